import type { Kysely } from 'kysely'
import type { ApprovalsTables } from './schema/approvals.ts'
import type { MobileTables } from './schema/mobile.ts'
import type { OrganizationsTables } from './schema/organizations.ts'
import type { ServiceTables } from './schema/service.ts'

export type Tables = OrganizationsTables & ApprovalsTables & MobileTables & ServiceTables

/** A connection, in a transaction or not. Every query of the service goes through one. */
export type Db = Kysely<Tables>
