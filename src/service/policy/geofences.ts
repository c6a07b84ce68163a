import { notFound } from '../../core/refusal.ts'
import { checkLocation } from '../../factors/location.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import { type Member, ofMember, organizationOfUser, reachOrganization } from '../call/tenant.ts'
import { keepCheckable } from './checkable-rules.ts'
import { factorsToCheck } from './factor-settings.ts'

const fields = ['name', 'latitude', 'longitude', 'radius', 'is_active'] as const

export const userFenceRecord = <Row extends { enabled: 0 | 1 }>(row: Row) => ({
  ...row,
  enabled: row.enabled === 1,
})

const userFences = async ({ db }: Call, member: Member) => {
  const rows = await db
    .selectFrom('user_geofences')
    .where(ofMember(member))
    .select(['name', 'latitude', 'longitude', 'radius', 'enabled'])
    .orderBy('id')
    .execute()
  return rows.map(userFenceRecord)
}

export const listGeofences: HandlerOf<'listGeofences'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const query = call.db.selectFrom('geofences').where('org_id', '=', org_id).selectAll()
  return readPage(call, query, 'id')
}

export const getGeofence: HandlerOf<'getGeofence'> = async ({ org_id, id }, call) => {
  await reachOrganization(call, org_id)
  return call.db
    .selectFrom('geofences')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('Geofence'))
}

export const createGeofence: HandlerOf<'createGeofence'> = async (input, call) => {
  await reachOrganization(call, input.org_id)
  const added = call.db
    .insertInto('geofences')
    .values({ ...input, created_at: call.now, updated_at: call.now })
    .returningAll()
    .executeTakeFirstOrThrow()
  // Sent together, the insertion first: the quota counts it.
  const [row] = await Promise.all([added, call.claim(input.org_id, 'geofences')])
  await call.audit(row.org_id, `geofence:${row.id}`)
  return row
}

export const updateGeofence: HandlerOf<'updateGeofence'> = async ({ org_id, id, ...input }, call) => {
  await reachOrganization(call, org_id)
  const changes = changedFields(input, fields)
  const row = await keepCheckable(call, { org_id, factor: 'location' }, () =>
    call.db
      .updateTable('geofences')
      .set({ ...changes, updated_at: call.now })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(() => notFound('Geofence')),
  )
  await call.audit(org_id, `geofence:${id}`)
  return row
}

export const deleteGeofence: HandlerOf<'deleteGeofence'> = async ({ org_id, id }, call) => {
  await reachOrganization(call, org_id)
  await keepCheckable(call, { org_id, factor: 'location' }, () =>
    call.db
      .deleteFrom('geofences')
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirstOrThrow(() => notFound('Geofence')),
  )
  await call.audit(org_id, `geofence:${id}`)
}

export const listUserGeofences: HandlerOf<'listUserGeofences'> = async ({ userId, org_id }, call) =>
  userFences(call, { org_id: await organizationOfUser(call, userId, org_id), user_id: userId })

export const setUserGeofences: HandlerOf<'setUserGeofences'> = async (
  { userId, org_id, geofences },
  call,
) => {
  const member = { org_id: await organizationOfUser(call, userId, org_id), user_id: userId }
  const fences = geofences.map(({ enabled, ...place }) => ({
    ...place,
    ...member,
    enabled: enabled ? (1 as const) : (0 as const),
  }))
  await keepCheckable(call, { org_id: member.org_id, factor: 'location' }, async () => {
    await call.db.deleteFrom('user_geofences').where(ofMember(member)).execute()
    if (fences.length > 0) await call.db.insertInto('user_geofences').values(fences).execute()
  })
  await call.claim(member.org_id, 'geofences', geofences.length)
  await call.audit(member.org_id, `user:${userId}`)
  return userFences(call, member)
}

export const checkGeofence: HandlerOf<'checkGeofence'> = {
  before: async ({ org_id, user_id, accuracy_m = 0, ...place }, outside) => {
    const rules = await factorsToCheck(outside, org_id, user_id)
    return async ({ now }) => ({
      factor: 'location',
      ...checkLocation(rules, { ...place, accuracy_m, at: now }, now),
    })
  },
}
