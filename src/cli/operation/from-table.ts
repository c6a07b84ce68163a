import type { Operations } from '../../contract/operation.ts'
import type { Register } from '../program/program.ts'
import type { Extensions } from './operation-command.ts'

/** A group with commands from the operation table and hand-written ones. */
export const fromTable =
  (
    loadTable: () => Promise<Operations>,
    { extend, more = [] }: { extend?: () => Promise<Extensions>; more?: (() => Promise<Register>)[] } = {},
  ) =>
  async (): Promise<Register> => {
    const [{ addOperations }, table, extensions, ...registers] = await Promise.all([
      import('./operation-command.ts'),
      loadTable(),
      extend?.(),
      ...more.map((load) => load()),
    ])
    return async (group, context, program) => {
      addOperations(group, table, context, { words: program.words, extensions })
      for (const register of registers) await register(group, context, program)
    }
  }
