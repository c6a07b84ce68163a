import type { Table } from '../../contract/table.ts'
import type { Handlers } from '../call.ts'

export const handlers = {} as Handlers<Table>
