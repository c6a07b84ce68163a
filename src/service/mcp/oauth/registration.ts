import { randomToken, sha256 } from '../../../core/ids.ts'
import { addMs } from '../../../core/iso-time.ts'
import { siteOf } from '../../../factors/network.ts'
import type { Service } from '../../call/service.ts'
import { consumeOrRefuse } from '../../limits/rate-limit.ts'
import { OAuthProblem } from './answer.ts'

// Dynamic registration (RFC 7591). Anybody can register, so a registration is small, soon forgotten unless a person
// consents to it, and limited in number.

export type Registration = { client_name?: string; redirect_uris: readonly string[] }

const unusedMs = 60 * 60_000
const unusedAtMost = 1_000
const longestMetadata = 4_096
const perAddress = { kind: 'client registration', atMost: 30, windowMs: 60 * 60_000 }

/** The id is a hash of the metadata, so nothing in the store can give a client another redirect address. */
const idOf = (metadata: string): string => `svc_client_${sha256(metadata)}`

type Registered = Registration & { client_id: string; issued_at: string }

/** Stores a client that registered itself. Throws 429, or an OAuthProblem. */
export const register = async (
  { storage }: Service,
  registration: Registration,
  address: string,
): Promise<Registered> => {
  // `nonce`: two clients with the same metadata must not share an id.
  const metadata = JSON.stringify({ nonce: randomToken(16), ...registration })
  if (metadata.length > longestMetadata)
    throw new OAuthProblem('invalid_client_metadata', 'The metadata are too long')
  const id = idOf(metadata)
  const created_at = await storage.write(
    async (db) => {
      const now = storage.now()
      await consumeOrRefuse(
        { db, now },
        perAddress,
        { org_id: 0, subject: `address:${siteOf(address)}` },
        {
          code: 'too_many_registrations',
          what: 'Too many clients registered from this address',
        },
      )
      await db.deleteFrom('oauth_clients').where('expires_at', '<=', now).execute()
      const { unused } = await db
        .selectFrom('oauth_clients')
        .where('used_at', 'is', null)
        .select(({ fn }) => fn.countAll<number | string>().as('unused'))
        .executeTakeFirstOrThrow()
      if (Number(unused) >= unusedAtMost)
        throw new OAuthProblem(
          'temporarily_unavailable',
          'Too many clients have registered and were not used yet. Try again in an hour',
          503,
        )
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
