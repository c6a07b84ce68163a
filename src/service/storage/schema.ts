import type { Kysely } from 'kysely'
import type { AdministrationTables } from './schema/administration.ts'
import type { ApprovalsTables } from './schema/approvals.ts'
import type { DeliveryTables } from './schema/delivery.ts'
import type { EventsTables } from './schema/events.ts'
import type { MachinesTables } from './schema/machines.ts'
import type { MobileTables } from './schema/mobile.ts'
import type { NodesTables } from './schema/nodes.ts'

export type Tables = AdministrationTables &
  ApprovalsTables &
  MobileTables &
  MachinesTables &
  DeliveryTables &
  EventsTables &
  NodesTables

/** A connection, in a transaction or not. Every query of the service goes through one. */
export type Db = Kysely<Tables>
