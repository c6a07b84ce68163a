import { expressionBuilder } from 'kysely'
import type { Call } from '../call/call.ts'
import { type Member, ofMember, ofMembership } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import type { DeviceRow } from './rows.ts'

type Alias = 'devices' | 'd'

/** True of a device that can decide and sign in. A condition of the statement itself, so that it sees every change. */
export const ofActiveDevice = (table: Alias) =>
  expressionBuilder<{ devices: DeviceRow; d: DeviceRow }, Alias>()(`${table}.state`, '=', 'active')

/** True of a device that is active or can still become active. */
export const ofKeptDevice = (table: Alias) =>
  expressionBuilder<{ devices: DeviceRow; d: DeviceRow }, Alias>()(`${table}.state`, 'in', [
    'active',
    'pending',
  ])

/** Devices of anybody, also of former members, in any state. Software keys count only with --dev. */
export const devicesInAnyState = (db: Db, dev: boolean) =>
  db.selectFrom('devices as d').$if(!dev, (query) => query.where('d.kind', '=', 'phone'))

/** Devices of active members, in any state. */
export const devicesOfMembers = (db: Db, dev: boolean) =>
  devicesInAnyState(db, dev)
    .innerJoin('memberships as m', (join) => join.on(ofMembership('d')))
    .where('m.state', '=', 'active')

/** Active devices of active members. */
export const activeDevices = (db: Db, dev: boolean) => devicesOfMembers(db, dev).where(ofActiveDevice('d'))

/** The devices of a member, in the order of their registration. */
export const devicesOf = (db: Db, member: Member) =>
  db.selectFrom('devices').where(ofMember(member)).orderBy('id')

export type CountedBy = Pick<Call, 'db'> & { service: Pick<Call['service'], 'dev'> }

/** The devices of a member in any state, without software keys unless they count (--dev). */
export const countedDevices = ({ db, service }: CountedBy, member: Member) =>
  devicesOf(db, member)
    .$if(!service.dev, (query) => query.where('kind', '=', 'phone'))
    .selectAll()
