import { influential } from '../../contract/scopes.ts'
import { deviceOfPage } from '../call/caller.ts'
import type { Member } from '../call/tenant.ts'
import { authenticKey, rootOf, type Within } from '../keys/ancestry.ts'
import type { KeyRow } from '../keys/rows.ts'
import { readScopes } from '../keys/scopes.ts'
import { findAppointment } from './appointment-rows.ts'
import { readDevice } from './record.ts'
import { type DeviceRow, isAuthenticDevice } from './rows.ts'

// The origin of a device, an agent or an administrator: the root keys behind it, followed through the devices that added or
// approved it. A device comes to be in one way only, with a link, and the row of the link says who created it:
// - a key: `svc user enroll`, the onboarding of an organization, the acceptance of a user (also by SMS or verified e-mail);
// - a device at the approver page: a further device of the same person, or a member whom an administrator accepts or sends
//   a link.
// A code by SMS (`otp`), an account of the mobile app and a verified address only decide where a link goes, or what it needs
// besides. A further device and a recovery also have the origin of what approved them. A restored row keeps its origin.

/** `keyOf`: reads a key; without it, each is read anew. */
export type Deps = Within & { keyOf?(id: number): Promise<KeyRow | undefined> }

export const readKey = (deps: Deps, id: number): Promise<KeyRow | undefined> =>
  deps.keyOf ? deps.keyOf(id) : authenticKey(deps, id)

/** An administrator who acts with a device; `until`: when they acted, if that was not now. */
type Administrator = Member & { device_id: number; until?: string | undefined }

/** A key by any of its secrets, a device, or an administrator. */
export type Source = { key: number } | { device: number } | { administrator: Administrator }

/** Each step reads a row or two. What takes more is unknown; `checkActor` and `checkDepth` prevent such chains. */
const mostSteps = 200

/** Of a person who adds somebody or something: with their device, and with who appointed them. */
export const mostStepsOfActor = 50

type Found = { sources: Source[]; key?: KeyRow }

/**
 * The row of the first secret, with what created the key. Behind a key that a person consented to are their device and, if it
 * can do what only an administrator can, whoever appointed them. Only a key of the whole service has no creator: the service.
 */
const ofKey = async (deps: Deps, id: number): Promise<Found | undefined> => {
  const named = await readKey(deps, id)
  if (!named) return undefined
  const key = named.lineage === null ? named : await readKey(deps, rootOf(named))
  if (!key) return undefined
  const { created_by, consented_with, created_at, owner_confirmed_at, org_id, scopes } = key
  if (created_by !== null) return { key, sources: [{ key: created_by }] }
  if (consented_with !== null) {
    const granted = readScopes(scopes)
    const isManaging = influential.some((scope) => granted.has(scope))
    if (!isManaging) return { key, sources: [{ device: consented_with }] }
    const owner = await ownerOf(deps, consented_with)
    if (!owner) return undefined
    const now = { ...owner, device_id: consented_with }
    const then = { ...now, until: owner_confirmed_at ?? created_at }
    // What it does later, it can because of whoever appointed its person last.
    return { key, sources: [{ administrator: then }, { administrator: now }] }
  }
  return org_id === null ? { key, sources: [] } : undefined
}

/** A device of the organization that no other program has changed. */
const findDevice = async (deps: Deps, id: number): Promise<DeviceRow | undefined> => {
  const { db, orgId } = deps
  if (orgId === null) return undefined
  const row = await readDevice({ db }, orgId, id).executeTakeFirst()
  return row && isAuthenticDevice(deps, row) ? row : undefined
}

const ownerOf = async (deps: Deps, device: number): Promise<Member | undefined> => {
  const row = await findDevice(deps, device)
  return row && { org_id: row.org_id, user_id: row.user_id }
}

/** A device that acted for somebody: as its own, or as an administrator if it acted for another person. */
const actorOf = async (
  deps: Deps,
  id: number,
  { forUser, until }: { forUser?: number; until?: string } = {},
): Promise<Source | undefined> => {
  const owner = await ownerOf(deps, id)
  if (!owner) return undefined
  return owner.user_id === forUser ? { device: id } : { administrator: { ...owner, device_id: id, until } }
}

/** What added and what approved a device. */
const ofDevice = async (deps: Deps, id: number): Promise<Found | undefined> => {
  const row = await findDevice(deps, id)
  if (!row) return undefined
  const { enrolled_by, added_by, approved_by, approved_by_key, proof, bound_at, user_id } = row
  const { registered_at, approved_at } = row
  const needsApproval = bound_at !== null && (proof === 'device' || proof === 'admin')
  if (enrolled_by === null && added_by === null) return undefined
  if (needsApproval && approved_by === null && approved_by_key === null) return undefined
  const sources: Source[] = []
  for (const key of [enrolled_by, approved_by_key]) if (key !== null) sources.push({ key })
  for (const [device, until] of [
    [added_by, registered_at],
    [approved_by, approved_at ?? registered_at],
  ] as const) {
    if (device === null) continue
    const actor = await actorOf(deps, device, { forUser: user_id, until })
    if (!actor) return undefined
    sources.push(actor)
  }
  return { sources }
}

/** The administrator's device, and whoever had appointed them when they acted. */
const ofAdministrator = async (
  deps: Deps,
  { device_id, ...acted }: Administrator,
): Promise<Found | undefined> => {
  const found = await findAppointment(deps, acted)
  if (!found) return undefined
  const { by_key, by_device, appointed_at } = found
  const by =
    by_device === null
      ? by_key !== null && { key: by_key }
      : await actorOf(deps, by_device, { until: appointed_at })
  return by ? { sources: [{ device: device_id }, by] } : undefined
}

const read = (deps: Deps, source: Source): Promise<Found | undefined> => {
  if ('key' in source) return ofKey(deps, source.key)
  return 'device' in source ? ofDevice(deps, source.device) : ofAdministrator(deps, source.administrator)
}

/**
 * Keys by their first secrets. `isWhole`: everything on the way was recorded, and no other program has changed it. `roles`:
 * the administrators on the way.
 */
export type Origin = { keys: ReadonlyMap<number, KeyRow>; isWhole: boolean; roles: readonly Member[] }

/** The keys that lead to a source; with `above`, also what created each key. */
export const follow = async (
  deps: Deps,
  source: Source,
  { above = false, steps = mostSteps }: { above?: boolean; steps?: number } = {},
): Promise<Origin> => {
  const keys = new Map<number, KeyRow>()
  const roles: Member[] = []
  const seen = new Set<string>()
  const open = [source]
  let isWhole = true
  for (let next = open.pop(); next; next = open.pop()) {
    const name = JSON.stringify(next)
    if (seen.has(name)) continue
    if (seen.size === steps) return { keys, isWhole: false, roles }
    seen.add(name)
    if ('administrator' in next) roles.push(next.administrator)
    const found = await read(deps, next)
    if (!found) isWhole = false
    if (found?.key) keys.set(found.key.id, found.key)
    if (found && (above || !found.key)) open.push(...found.sources)
  }
  return { keys, isWhole: isWhole && keys.size > 0, roles }
}

/**
 * 0 is not a key of the store: the bearer of the tool server, which the operator configured. Below 0 is a person at the
 * approver page, by their device.
 */
export const aboveRequester = async (deps: Deps, id: number): Promise<Origin> => {
  if (id === 0) return { keys: new Map(), isWhole: true, roles: [] }
  const source = id > 0 ? { key: id } : await actorOf(deps, deviceOfPage(id))
  return source ? follow(deps, source, { above: true }) : { keys: new Map(), isWhole: false, roles: [] }
}

/** The root keys behind a source, not followed to what created them; undefined if one is unknown. */
export const findRoots = async (deps: Deps, source: Source): Promise<KeyRow[] | undefined> => {
  const { keys, isWhole } = await follow(deps, source)
  return isWhole ? [...keys.values()] : undefined
}

/**
 * The people who own a requesting key or one of the keys above it, or admitted its person as an administrator; undefined if one
 * of these is unknown.
 */
export const findOwners = async (deps: Deps, requestedBy: number): Promise<Set<number> | undefined> => {
  const { keys, isWhole, roles } = await aboveRequester(deps, requestedBy)
  const owners = [...keys.values()].flatMap(({ owner_user_id }) => owner_user_id ?? [])
  return isWhole ? new Set([...owners, ...roles.map(({ user_id }) => user_id)]) : undefined
}

const confirmedOwners = ({ keys }: Origin): number[] =>
  [...keys.values()].flatMap(({ owner_user_id, owner_confirmed_at }) =>
    owner_user_id !== null && owner_confirmed_at !== null ? [owner_user_id] : [],
  )

/** The people who certainly acted on the way: with their keys, or as administrators. */
export const peopleOf = (origin: Origin): number[] => [
  ...confirmedOwners(origin),
  ...origin.roles.map(({ user_id }) => user_id),
]

/**
 * The people behind a requesting key whose own devices confirmed it, as owner, by their consent to an agent or a terminal, or
 * as the administrator who admitted its person. An owner whom only the creator of a key named is a claim, and would let a
 * requester exclude any strict approver.
 */
export const findConfirmedOwners = async (deps: Deps, requestedBy: number): Promise<Set<number>> =>
  new Set(peopleOf(await aboveRequester(deps, requestedBy)))
