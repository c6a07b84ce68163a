import { influential, type Scope } from '../../contract/scopes.ts'
import { conflict, forbidden, invalid } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { type Caller, isOperator, namedKeyOf } from '../call/caller.ts'
import { readPreconditions, requireLiveCaller } from '../call/preconditions.ts'
import type { Keyring } from '../call/keyring.ts'
import { withinOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'
import { inParts } from '../storage/in-parts.ts'
import { lockOrganizations } from '../storage/transaction.ts'
import { callingIn, isAuthenticKey, keyNotAuthentic, type KeyRow, inOrganization } from './rows.ts'
import { scopesText } from './scopes.ts'

// The root of a key is the row of its first secret; rotations do not change it. `created_by` is the root of the key that
// created it.

/** Keys are those of the organization, or of the whole service: another program can put a key of another one under the same id. */
export type Within = { db: Db; keyring: Keyring; orgId: number | null }

export const within = ({ db, keyring }: Pick<Within, 'db' | 'keyring'>, orgId: number | null): Within => ({
  db,
  keyring,
  orgId,
})

const keyById = statement((db, { id, orgId }: { id: number; orgId: number | null }) =>
  db.selectFrom('api_keys').where('id', '=', id).where(callingIn(orgId)).selectAll(),
)

/** The row of a key; undefined if there is none or another program has changed it. */
export const authenticKey = async (
  { db, keyring, orgId }: Within,
  id: number,
): Promise<KeyRow | undefined> => {
  const [row] = (await keyById(db, { id, orgId })).rows
  return row && isAuthenticKey(keyring, row) ? row : undefined
}

/** The first secret of the key that a row belongs to. */
export const rootOf = ({ id, lineage }: Pick<KeyRow, 'id' | 'lineage'>): number => lineage ?? id

/** How many keys can create each other in a row. */
const deepest = 20

/** The roots of the creator, its creator and so on; undefined if one is not authentic, or there are too many. */
export const findAncestors = async (deps: Within, root: number): Promise<number[] | undefined> => {
  const found: number[] = []
  for (let id = root; ;) {
    const row = await authenticKey(deps, id)
    if (!row) return undefined
    if (row.created_by === null) return found
    if (found.length === deepest) return undefined
    id = row.created_by
    found.push(id)
  }
}

/** The key of a person that this one is, or is below: what it creates works only while that one does. */
export const findPersonKey = async (deps: Within, root: number): Promise<number | null> => {
  const row = await authenticKey(deps, root)
  return row && row.consented_with !== null ? root : (row?.person_key ?? null)
}

/** The first row of a key and of those above it, the nearest first, as far as they are keys of an organization. */
const keysAbove = async (deps: Within, root: number): Promise<KeyRow[]> => {
  const found: KeyRow[] = []
  for (const id of [root, ...((await findAncestors(deps, root)) ?? [])]) {
    const row = await authenticKey(deps, id)
    // The operator creates the first key of each organization.
    if (!row || row.org_id === null) break
    found.push(row)
  }
  return found
}

/**
 * Who holds a key: the person who confirmed it or else the nearest key above it, or the first key of the organization above it.
 * Keys that others create are theirs, so that more keys are no more to anybody.
 */
export const findHolder = async (deps: Within, root: number): Promise<string> => {
  const keys = await keysAbove(deps, root)
  const confirmed = keys.find(({ owner_confirmed_at }) => owner_confirmed_at !== null)
  return confirmed ? `user:${confirmed.owner_user_id}` : `key:${keys.at(-1)?.id ?? root}`
}

/** Whether what an approver said of one key holds for another: it is the same or below it, or of the same person. */
export const isOfSame = async (deps: Within, one: number, other: number): Promise<boolean> => {
  if (one === other || (await keysAbove(deps, other)).some(({ id }) => id === one)) return true
  const holder = await findHolder(deps, one)
  return holder.startsWith('user:') && holder === (await findHolder(deps, other))
}

/** The rows, with all secrets, of the keys that a key created, directly or not. */
const findDescendants = async (db: Db, root: number): Promise<number[]> => {
  const found = new Set<number>()
  for (let creators = [root]; creators.length > 0;) {
    const rows = await inParts(creators, (some) =>
      db
        .selectFrom('api_keys')
        .where('created_by', 'in', some)
        .select(['id', 'lineage'])
        .orderBy('id')
        .execute(),
    )
    const fresh = rows.filter(({ id }) => !found.has(id))
    for (const { id } of fresh) found.add(id)
    creators = fresh.filter(({ lineage }) => lineage === null).map(({ id }) => id)
  }
  return [...found]
}

/** The secrets of the key that a row belongs to. */
export const secretsOf = (db: Db, row: Pick<KeyRow, 'id' | 'lineage' | 'org_id'>) =>
  db
    .selectFrom('api_keys')
    .where(inOrganization(row.org_id))
    .where(({ eb, or }) => or([eb('id', '=', rootOf(row)), eb('lineage', '=', rootOf(row))]))

/**
 * The rows that are revoked with a secret. With the newest secret the key ends: its other secrets, and the keys that it
 * created, directly or not. A secret that a rotation replaced ends alone: since then it could create nothing.
 */
export const keysBelow = async (db: Db, id: number): Promise<number[]> => {
  const row = await db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .select(['id', 'lineage', 'org_id', 'replaced'])
    .executeTakeFirst()
  if (!row || row.replaced === 1) return []
  const others = await secretsOf(db, row).where('id', '<>', id).select('id').orderBy('id').execute()
  return [...others.map((one) => one.id), ...(await findDescendants(db, rootOf(row)))]
}

/**
 * Refuses a caller whose secret a rotation replaced: a key that a leaked secret got would outlive it. Locks the organization
 * of the caller, so that a rotation or a revocation of its key comes before or after.
 */
export const requireNewestSecret = async ({ db, caller, keyring, now }: Call): Promise<void> => {
  const own = caller.orgId ?? 0
  if (await lockOrganizations(db, [own]))
    requireLiveCaller(await readPreconditions(db, caller, own), caller, now)
  const row = await db
    .selectFrom('api_keys')
    .where('id', '=', caller.keyId)
    .where(inOrganization(caller.orgId))
    .selectAll()
    .executeTakeFirst()
  if (row && !isAuthenticKey(keyring, row)) throw keyNotAuthentic(row.id)
  if (row?.replaced !== 1) return
  throw forbidden(
    'secret_replaced',
    'A rotation replaced this secret, so it can no longer create or rotate keys',
    'Use the new secret of the key, or another key: svc profile login signs in',
  )
}

/** Refuses scopes that the caller lacks: a key cannot create a stronger one, or get the secret of one. */
export const checkGrant = (caller: Caller, scopes: Iterable<Scope>): void => {
  const missing = [...scopes].filter((scope) => !caller.scopes.has(scope))
  if (missing.length === 0) return
  throw forbidden(
    'scope_missing',
    `This key cannot grant ${missing.map((scope) => `"${scope}"`).join(' and ')}, because it does not have ${missing.length === 1 ? 'it' : 'them'}`,
    `It can grant: ${scopesText(caller.scopes)}`,
  )
}

/** Refuses a key below so many others that nobody could follow it to the first one. */
export const checkDepth = async (call: Call, creator: number): Promise<void> => {
  if (await findAncestors(within(call, call.caller.orgId), creator)) return
  throw conflict(
    'too_many_creators',
    `The key in use is the last of ${deepest} keys that created each other, or another program has changed one of them in the store`,
    'Create the key with a key above it',
  )
}

/** A key expires with the key that created it, at the latest, unless the creator is the consent of a person. */
export const checkExpiry = (
  { caller, now }: Call,
  expires_at: string | undefined,
  { byConsent = false }: { byConsent?: boolean } = {},
): void => {
  if (expires_at !== undefined && expires_at <= now) throw invalid('expires_at', 'must be in the future')
  if (byConsent || caller.expiresAt === undefined) return
  if (expires_at === undefined || expires_at > caller.expiresAt)
    throw invalid('expires_at', `must not be after ${caller.expiresAt}, when the key in use expires`)
}

/** The owner must be an active member of the organization or, for a key of the whole service, of any. */
export const checkOwner = async ({ db }: Call, orgId: number | null, owner: number | undefined) => {
  if (owner === undefined) return
  const found = await db
    .selectFrom('memberships')
    .where('user_id', '=', owner)
    .where('state', '=', 'active')
    .where(withinOrganization(orgId, 'org_id'))
    .select('user_id')
    .executeTakeFirst()
  if (found) return
  throw invalid('owner_user_id', `must be an active member of ${orgId === null ? 'an' : 'the'} organization`)
}

/**
 * A rotation shows the new secret, so a key can rotate only itself and the keys that it created, directly or not. The
 * operator can rotate every key.
 */
export const checkRotation = async (
  call: Call,
  row: Pick<KeyRow, 'id' | 'lineage' | 'org_id'>,
): Promise<void> => {
  const own = namedKeyOf(call.caller)
  if (isOperator(call.caller) || rootOf(row) === own) return
  if (((await findAncestors(within(call, row.org_id), rootOf(row))) ?? []).includes(own)) return
  throw forbidden(
    'not_your_key',
    'A key can rotate only itself and the keys that it created',
    'Use that key itself, or an operator key; svc key revoke revokes a key of the organization',
  )
}

/**
 * Whether a key can influence who approves, and so could approve its own requests: it can enroll devices, create keys, or
 * change members or rules.
 */
export const mayInfluence = (caller: Pick<Caller, 'orgId' | 'scopes'>): boolean =>
  isOperator(caller) || influential.some((scope) => caller.scopes.has(scope))
