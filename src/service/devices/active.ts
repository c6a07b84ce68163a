import { sql } from 'kysely'
import type { Db } from '../storage/schema.ts'

type Alias = 'devices' | 'd'

/** True of a device that decides, signs in and counts as enrolled. The statement itself sees it, whatever changed before. */
export const ofActiveDevice = (table: Alias) => sql<boolean>`${sql.ref(`${table}.state`)} = 'active'`

/** True of a device that is active or may still become so. */
export const ofKeptDevice = (table: Alias) =>
  sql<boolean>`${sql.ref(`${table}.state`)} in ('active', 'pending')`

/** Devices of active members, whatever their own state. A key file only with --dev. */
export const devicesOfMembers = (db: Db, dev: boolean) =>
  db
    .selectFrom('devices as d')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.org_id', '=', 'd.org_id').onRef('m.user_id', '=', 'd.user_id'),
    )
    .where('m.state', '=', 'active')
    .$if(!dev, (query) => query.where('d.kind', '=', 'phone'))

/** Devices that count: active, and of an active member. */
export const activeDevices = (db: Db, dev: boolean) => devicesOfMembers(db, dev).where(ofActiveDevice('d'))

/** The devices of one member, in the order of their registration. */
export const devicesOf = (db: Db, { org_id, user_id }: { org_id: number; user_id: number }) =>
  db.selectFrom('devices').where('org_id', '=', org_id).where('user_id', '=', user_id).orderBy('id')
