import type { Table } from '../../contract/table.ts'
import type { Handlers } from '../call/call.ts'
import * as all from './list.ts'

/** A handler for each operation of the table. A missing one does not compile. */
export const handlers: Handlers<Table> = { ...all }
