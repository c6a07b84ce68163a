import { randomBytes } from 'node:crypto'
import { randomToken, sameSecret, sha256 } from '../../core/ids.ts'
import { keyPrefix } from '../../core/key-prefix.ts'
import { addMs } from '../../core/iso-time.ts'
import { type Authenticated, type Caller, keyExpired } from '../call/caller.ts'
import type { Service } from '../call/service.ts'
import { isByCode, ofLiveSignIn } from '../call/sign-in.ts'
import { requireOwnNumber } from '../call/tenant.ts'
import { noteEveryMs, noteKeyUse, type KeyRow as StoredKey } from './rows.ts'
import { readScopes } from './scopes.ts'
import { statement } from '../storage/statement.ts'

/** The part of a key that names its kind. */
const kindWords = { operator: 'op', service: 'srv', organization: 'org' } as const
export type KeyKind = keyof typeof kindWords

/** A new key, shown once; the store keeps only `prefix` and hashes. */
export const newSecret = (kind: KeyKind): { key: string; prefix: string } => {
  const prefix = `svc_${kindWords[kind]}_${randomBytes(4).toString('hex')}`
  return { key: `${prefix}_${randomToken(32)}`, prefix }
}

/** With the number of the owner, if they are an active member of the organization of the key. */
type KeyRow = StoredKey &
  Record<'mobile' | 'national' | 'country_code' | 'slug' | 'person_mac', string | null>

const readKey = statement((db, { prefix }: { prefix: string }) =>
  db
    .selectFrom('api_keys as k')
    .leftJoin('organizations as o', 'o.id', 'k.org_id')
    .leftJoin('memberships as m', (join) =>
      join
        .onRef('m.org_id', '=', 'k.org_id')
        .onRef('m.user_id', '=', 'k.owner_user_id')
        .on('m.state', '=', 'active'),
    )
    .leftJoin('people as p', 'p.id', 'm.user_id')
    .where('k.prefix', '=', prefix)
    .where('k.revoked_at', 'is', null)
    .where(ofLiveSignIn('k'))
    .selectAll('k')
    .select(['o.slug', 'p.mobile', 'p.national', 'p.country_code', 'p.row_mac as person_mac']),
)

const agentOf = ({ audience, mobile }: KeyRow) =>
  audience !== null && mobile !== null ? { agent: { mobile } } : undefined

const isOfTerminal = ({ client_id, audience }: StoredKey): boolean => client_id !== null && audience === null

/** The caller of a key, as the store has it. */
export const callerOfKey = (row: StoredKey): Caller => {
  const { id: keyId, name, org_id: orgId, lineage, owner_user_id, owner_confirmed_at, expires_at } = row
  // Whoever left and came back did not confirm it anew, and perhaps somebody else got the number.
  const ownerConfirmed = owner_confirmed_at !== null && row.owner_left_at === null
  return {
    keyId,
    name,
    orgId,
    scopes: readScopes(row.scopes),
    ...(lineage !== null && { lineage }),
    ...(owner_user_id !== null && { ownerId: owner_user_id, ownerConfirmed }),
    ...(expires_at !== null && { expiresAt: expires_at }),
    ...(isOfTerminal(row) && { signedInWith: row.consented_with! }),
    ...(isOfTerminal(row) && isByCode(row.client_id!) && { byCode: true as const }),
  }
}

const callerOf = (row: KeyRow): Authenticated => ({
  ...callerOfKey(row),
  orgSlug: row.slug,
  ...agentOf(row),
})

/**
 * The key of an agent works only at the tool server that it was issued for, and only while its owner is an active member.
 * Any other key works everywhere.
 */
const isFor = ({ audience: issuedFor, mobile }: KeyRow, audience: string | undefined): boolean =>
  issuedFor === null || (issuedFor === audience && mobile !== null)

type Known = { row: KeyRow; caller: Authenticated }

/**
 * Finds the caller of a key, synchronously if it is cached. A revoked key stops working with the commit; on other nodes, reads
 * may work for one more second. Throws 401
 * `key_expired` for an expired one. `audience`: the address of the tool server, if the caller is there.
 */
export const createAuthenticator = ({ storage, keyring }: Pick<Service, 'storage' | 'keyring'>) => {
  // By the hash of the whole key, and only until the next commit that may have changed a key. A key that another node revoked
  // may be found for one more second; a write checks it again.
  const known = new Map<string, Known>()
  /** Lookups in progress: requests that arrive together with one key share one. */
  const finding = new Map<string, Promise<Known | undefined>>()
  let revision = -1

  const find = async (key: string, hash: string, since: number): Promise<Known | undefined> => {
    const [row] = (await storage.read((db) => readKey(db, { prefix: keyPrefix(key) }))).rows
    // The hash covers the row too: a key whose scopes, expiry or organization were edited in the store matches no secret.
    if (!row || !sameSecret(row.hash, keyring.keyHash(hash, row))) return undefined
    const { audience, owner_user_id: id, mobile, person_mac: row_mac } = row
    // An agent asks its owner by this number.
    if (audience !== null && mobile !== null)
      requireOwnNumber(
        { keyring },
        { id: id!, mobile, national: row.national!, country_code: row.country_code!, row_mac },
      )
    const found = { row, caller: callerOf(row) }
    if (storage.recentRevision() === since && revision === since) known.set(hash, found)
    return found
  }

  const findOnce = (key: string, hash: string, since: number): Promise<Known | undefined> => {
    const pending = finding.get(hash)
    if (pending) return pending
    const found = find(key, hash, since).finally(() => {
      if (finding.get(hash) === found) finding.delete(hash)
    })
    finding.set(hash, found)
    return found
  }

  /** When the use of a key is recorded next. */
  const due = new Map<number, string>()

  /** At most once a minute for each key, without waiting for the write. */
  const noteUse = ({ id, last_used_at }: KeyRow, now: string): void => {
    let next = due.get(id)
    if (next === undefined)
      due.set(id, (next = last_used_at === null ? '' : addMs(last_used_at, noteEveryMs)))
    if (now < next) return
    due.set(id, addMs(now, noteEveryMs))
    storage.write((db) => noteKeyUse(db, id, now), { org: null, routine: true }).catch(() => due.delete(id))
  }

  const admit = (found: Known | undefined, audience: string | undefined): Authenticated | undefined => {
    if (!found || !isFor(found.row, audience)) return undefined
    const { row, caller } = found
    const now = storage.now()
    if (row.expires_at !== null && row.expires_at <= now) throw keyExpired(row.expires_at, caller)
    noteUse(row, now)
    return caller
  }

  return (
    key: string | undefined,
    audience?: string,
  ): Authenticated | undefined | Promise<Authenticated | undefined> => {
    if (!key || key.length > 512) return undefined
    const current = storage.recentRevision()
    if (current !== revision) {
      known.clear()
      finding.clear()
    }
    revision = current
    const hash = sha256(key)
    const found = known.get(hash)
    if (found) return admit(found, audience)
    return findOnce(key, hash, current).then((one) => admit(one, audience))
  }
}
export type Authenticate = ReturnType<typeof createAuthenticator>
