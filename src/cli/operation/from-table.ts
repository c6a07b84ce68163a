import type { Operations } from '../../contract/operation.ts'
import { together, type Register } from '../program/define-command.ts'
import type { Extensions } from './operation-command.ts'

/** A group with commands from the operation table and hand-written ones. */
export const fromTable =
  (
    loadTable: () => Promise<Operations>,
    { extend, more = [] }: { extend?: () => Promise<Extensions>; more?: (() => Promise<Register>)[] } = {},
  ) =>
  async (): Promise<Register> => {
    const [{ defineOperations }, table, extensions, ...registers] = await Promise.all([
      import('./operation-command.ts'),
      loadTable(),
      extend?.(),
      ...more.map((load) => load()),
    ])
    return together(defineOperations(table, extensions), ...registers)
  }
