import type { Operations } from '../../contract/operation.ts'
import { together, type Register } from '../program/define-command.ts'
import type { Extensions } from './operation-command.ts'

type Others = {
  extend?: () => Promise<Extensions>
  /** Commands before those of the table, and after them. */
  first?: () => Promise<Register>
  more?: () => Promise<Register>
}

const none = async (): Promise<Register> => () => undefined

/** A group with commands from the operation table and hand-written ones. */
export const fromTable =
  (loadTable: () => Promise<Operations>, { extend, first = none, more = none }: Others = {}) =>
  async (): Promise<Register> => {
    const [{ defineOperations }, table, extensions, before, after] = await Promise.all([
      import('./operation-command.ts'),
      loadTable(),
      extend?.(),
      first(),
      more(),
    ])
    return together(before, defineOperations(table, extensions), after)
  }
