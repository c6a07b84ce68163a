import { randomToken, sha256 } from '../../../core/ids.ts'
import { addMs } from '../../../core/iso-time.ts'
import { siteOf } from '../../../factors/network.ts'
import { countRows } from '../../call/pagination.ts'
import type { Moment, Service } from '../../call/service.ts'
import { consumeOrRefuse } from '../../limits/rate-limit.ts'
import { OAuthProblem } from './answer.ts'

// Dynamic registration (RFC 7591). Anybody can register, so a registration is small, soon forgotten unless a person
// consents to it, and limited in number.

export type Registration = { client_name?: string; redirect_uris: readonly string[] }

const unusedMs = 60 * 60_000
const unusedAtMost = 1_000
const longestMetadata = 4_096

/** Refuses an address that asks too often, and deletes what has expired meanwhile. Throws 429. */
export const admit = async (
  { db, now }: Moment,
  table: 'oauth_clients' | 'device_codes',
  address: string | undefined,
  { kind, ...refusal }: { kind: string; code: string; what: string },
) => {
  const subject = `address:${address === undefined ? 'unknown' : siteOf(address)}`
  const limit = { kind, atMost: 30, windowMs: 60 * 60_000 }
  await consumeOrRefuse({ db, now }, limit, { org_id: 0, subject }, refusal)
  await db.deleteFrom(table).where('expires_at', '<=', now).execute()
}

export const tooBusy = (message: string): OAuthProblem =>
  new OAuthProblem('temporarily_unavailable', message, 503)

/** The id is a hash of the metadata, so nothing in the store can give a client another redirect address. */
const idOf = (metadata: string): string => `svc_client_${sha256(metadata)}`

/** Stores a client that registered itself. Throws 429, or an OAuthProblem. */
export const register = async (
  { storage }: Service,
  registration: Registration,
  address: string | undefined,
) => {
  // `nonce`: two clients with the same metadata must not share an id.
  const metadata = JSON.stringify({ nonce: randomToken(16), ...registration })
  if (metadata.length > longestMetadata)
    throw new OAuthProblem('invalid_client_metadata', 'The metadata are too long')
  const id = idOf(metadata)
  const created_at = await storage.write(
    async (db) => {
      const now = storage.now()
      await admit({ db, now }, 'oauth_clients', address, {
        kind: 'client registration',
        code: 'too_many_registrations',
        what: 'Too many clients registered from this address',
      })
      if ((await countRows(db.selectFrom('oauth_clients').where('used_at', 'is', null))) >= unusedAtMost)
        throw tooBusy('Too many clients have registered and were not used yet. Try again in an hour')
      await db
        .insertInto('oauth_clients')
        .values({ id, metadata, created_at: now, expires_at: addMs(now, unusedMs) })
        .execute()
      return now
    },
    { org: 0, routine: true },
  )
  return { ...registration, client_id: id, issued_at: created_at }
}

export const findRegistered = async ({ storage }: Service, id: string): Promise<Registration | undefined> => {
  const row = await storage.read((db) =>
    db
      .selectFrom('oauth_clients')
      .where('id', '=', id)
      .where('expires_at', '>', storage.now())
      .select('metadata')
      .executeTakeFirst(),
  )
  return row && idOf(row.metadata) === id ? (JSON.parse(row.metadata) as Registration) : undefined
}
