import type { Table } from '../../contract/table.ts'
import type { Handlers } from '../call/call.ts'
import { deviceHandlers } from './device.ts'
import * as others from './list.ts'

/** A handler for each operation of the table. A missing one does not compile. */
export const handlers: Handlers<Table> = { ...others, ...deviceHandlers }
