import { mostAdded } from '../../contract/added.ts'
import type { Call } from '../call/call.ts'
import { countRows } from '../call/pagination.ts'
import { ofMembership, withinOrganization } from '../call/tenant.ts'
import { ofKeptDevice } from '../devices/active.ts'
import { adminRoles } from '../devices/administrators.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import { selectConsented } from '../keys/agents.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { inParts } from '../storage/in-parts.ts'
import type { Db } from '../storage/schema.ts'

// What a device or a key brought in: devices whose link it made or which it approved, keys that a person consented to with
// one of these, and what those devices added in turn.

type Reads = Pick<Call, 'db' | 'keyring' | 'now'>

/** `orgId` null: all organizations. With `userId`, only what this person has. The walk does not go through `except`. */
type Within = { orgId: number | null; userId?: number; except?: number }

const nobody = 0

const devicesWithin = (db: Db, { orgId, userId }: Within) =>
  db
    .selectFrom('devices as d')
    .where(withinOrganization(orgId, 'd.org_id'))
    .$if(userId !== undefined, (query) => query.where('d.user_id', '=', userId!))

/** These devices and those that they added or approved, directly or not, in any state. Stops after `mostAdded`. */
const spread = async (db: Db, start: readonly number[], within: Within): Promise<number[]> => {
  const found = new Set(start)
  for (let next = [...start]; next.length > 0 && found.size <= mostAdded;) {
    const rows = await devicesWithin(db, within)
      .where(({ or, eb }) => or([eb('d.added_by', 'in', next), eb('d.approved_by', 'in', next)]))
      .where('d.id', 'not in', [...found, within.except ?? nobody])
      .select('d.id')
      .orderBy('d.id')
      .limit(mostAdded + 1)
      .execute()
    next = rows.map(({ id }) => id)
    for (const id of next) found.add(id)
  }
  return [...found]
}

type Named = { first_name: string | null; last_name: string | null }

const ownerOf = ({ first_name, last_name }: Named): string => `${first_name ?? ''} ${last_name ?? ''}`.trim()

type Thing = Named & { id: number; org_id: number; name: string; user_id: number }

const named = (row: Thing) => {
  const { id, org_id, name, user_id } = row
  return { id, org_id, name, user_id, owner: ownerOf(row) }
}

/** What works now of `devices`, except `start`, and the keys that were consented to with one of them or with `start`. */
const readLive = async (
  { db, keyring, now }: Reads,
  devices: readonly number[],
  start: number,
  within: Within,
) => {
  const { orgId, userId } = within
  const live = await devicesWithin(db, within)
    .leftJoin('memberships as m', (join) => join.on(ofMembership('d')))
    .where('d.id', 'in', [...devices, nobody])
    .where('d.id', '<>', start)
    .where(ofKeptDevice('d'))
    .selectAll('d')
    .select(['m.first_name', 'm.last_name'])
    .orderBy('d.id')
    .limit(mostAdded)
    .execute()
  const agents = await selectConsented({ db, now })
    .where('k.replaced', '=', 0)
    .where('k.consented_with', 'in', [...devices, nobody])
    .where(withinOrganization(orgId, 'm.org_id'))
    .$if(userId !== undefined, (query) => query.where('m.user_id', '=', userId!))
    .select(['k.id', 'm.org_id', 'k.name', 'm.user_id', 'm.first_name', 'm.last_name'])
    .orderBy('k.id')
    .limit(mostAdded + 1)
    .execute()
  return {
    devices: live.filter((row) => isAuthenticDevice({ keyring }, row)).map(named),
    agents: agents.slice(0, mostAdded).map(named),
    more: devices.length > mostAdded || agents.length > mostAdded,
  }
}

export type Added = Awaited<ReturnType<typeof readLive>>

export const nothingAdded: Added = { devices: [], agents: [], more: false }

/** What a device added for its own person. */
export const readAddedByDevice = async (
  call: Reads,
  { id, org_id, user_id }: { id: number; org_id: number; user_id: number },
  except?: number,
): Promise<Added> => {
  const within = { orgId: org_id, userId: user_id, ...(except !== undefined && { except }) }
  return readLive(call, await spread(call.db, [id], within), id, within)
}

/** The devices behind which this key or one that it created is, in any state. */
const enrolledBy = async (db: Db, keys: readonly number[], within: Within): Promise<number[]> => {
  const rows = await inParts(keys, (some) =>
    devicesWithin(db, within)
      .where(({ or, eb }) => or([eb('d.enrolled_by', 'in', some), eb('d.approved_by_key', 'in', some)]))
      .select('d.id')
      .orderBy('d.id')
      .limit(mostAdded + 1)
      .execute(),
  )
  const ids = rows.map(({ id }) => id)
  return spread(db, ids, within)
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0)

/** What a key and the keys that it created added, and what ends with them. */
export const readAddedByKey = async (call: Pick<Call, 'db' | 'keyring' | 'now' | 'caller'>, id: number) => {
  const { db, now } = call
  const within = { orgId: call.caller.orgId }
  const keys = [id, ...(await keysBelow(db, id))]
  const devices = await enrolledBy(db, keys, within)
  const appointedBy = (column: 'a.by_key' | 'a.by_device', ids: readonly number[]) =>
    inParts(ids, (some) =>
      db
        .selectFrom('appointments as a')
        .innerJoin('memberships as m', (join) => join.on(ofMembership('a')))
        .where(column, 'in', some)
        .where(withinOrganization(within.orgId, 'a.org_id'))
        .where('m.state', '=', 'active')
        .where('m.role', 'in', adminRoles)
        .select(['m.org_id', 'm.user_id', 'm.first_name', 'm.last_name'])
        .orderBy('m.user_id')
        .limit(mostAdded)
        .execute(),
    )
  // Each appointment is by a key or by a device.
  const appointed = [...(await appointedBy('a.by_key', keys)), ...(await appointedBy('a.by_device', devices))]
  const administrators = appointed.toSorted((a, b) => a.user_id - b.user_id).slice(0, mostAdded)
  const requests = await inParts(keys, async (some) => {
    const pending = db.selectFrom('approvals').where('key_id', 'in', some).where('status', '=', 'pending')
    return [await countRows(pending.where('expires_at', '>', now))]
  })
  const links = await inParts(keys, async (some) => {
    const unused = db.selectFrom('enrollments').where('created_by', 'in', some).where('used_at', 'is', null)
    return [await countRows(unused.where('expires_at', '>', now))]
  })
  return {
    ...(await readLive(call, devices, nobody, within)),
    administrators: administrators.map(({ user_id, org_id, ...row }) => ({
      user_id,
      org_id,
      owner: ownerOf(row),
    })),
    pending_requests: sumOf(requests),
    enrollment_links: sumOf(links),
  }
}
