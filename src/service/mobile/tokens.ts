import { randomToken, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import type { RowData } from '../call/row-ids.ts'
import { accountScope } from './person.ts'

// spec: not shown
const accessMs = 15 * 60_000
const refreshMs = 30 * 24 * 60 * 60_000

type Tokens = RowData<'confirmRegistration'>
type Access = Pick<Tokens, 'user_id' | 'access_token' | 'expires_at'>

/** Signs an access token (RFC 9068). Called before the transaction, in which nothing but SQL may be awaited. */
export const signAccess = async ({ service, caller }: Outside, user_id: number): Promise<Access> => {
  const { keyring, publicUrl, storage } = service
  const iat = Math.floor(Date.parse(storage.now()) / 1000)
  const exp = iat + accessMs / 1000
  const claims = {
    iss: publicUrl,
    aud: publicUrl,
    sub: String(user_id),
    client_id: `key:${caller.keyId}`,
    org_id: accountScope({ caller }),
    jti: randomToken(16),
    iat,
    exp,
  }
  return {
    user_id,
    access_token: await keyring.sign(claims, 'at+jwt'),
    expires_at: new Date(exp * 1000).toISOString(),
  }
}

const addRefreshToken = async (call: Call, family: string, user_id: number) => {
  const refresh_token = randomToken()
  const refresh_expires_at = addMs(call.now, refreshMs)
  const row = {
    family,
    org_id: accountScope(call),
    user_id,
    token_hash: sha256(refresh_token),
    created_at: call.now,
    expires_at: refresh_expires_at,
  }
  await call.db
    .insertInto('refresh_tokens')
    .values({ ...row, row_mac: call.keyring.macOf('refresh_tokens', row) })
    .execute()
  return { refresh_token, refresh_expires_at }
}

/** A sign-in: the first of a family of refresh tokens. */
export const startFamily = async (call: Call, access: Access): Promise<Tokens> => {
  const family = randomToken(16)
  await call.db
    .insertInto('token_families')
    .values({ family, org_id: accountScope(call), user_id: access.user_id, created_at: call.now })
    .execute()
  return { ...access, ...(await addRefreshToken(call, family, access.user_id)) }
}

/** One answer for a token that is unknown, another caller's, expired or already used. */
const refused = (): Refusal =>
  new Refusal(401, 'refresh_token_invalid', 'The refresh token is wrong, has expired or was already used', {
    hint: 'Sign in again: svc mobile send-otp, then svc mobile confirm',
  })

const findToken = (reach: Pick<Call, 'db' | 'caller'>, token: string) =>
  reach.db
    .selectFrom('refresh_tokens')
    .where('token_hash', '=', sha256(token))
    .where('org_id', '=', accountScope(reach))
    .selectAll()
    .executeTakeFirst()

type Token = NonNullable<Awaited<ReturnType<typeof findToken>>>

/** Uses up a token of a family that has not ended, in one statement. */
const spend = async ({ db, caller, now }: Call, { id, row_mac, expires_at }: Token): Promise<boolean> => {
  if (expires_at <= now) return false
  const spent = await db
    .updateTable('refresh_tokens')
    .set({ spent_at: now, row_mac: null })
    .where('id', '=', id)
    // The row that was found authentic.
    .where('row_mac', '=', row_mac)
    .where('org_id', '=', accountScope({ caller }))
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('token_families as f')
          .whereRef('f.family', '=', 'refresh_tokens.family')
          .where('f.ended_at', 'is', null)
          .select('f.family'),
      ),
    )
    .returning('id')
    .executeTakeFirst()
  return spent !== undefined
}

/** A token that is used twice was stolen: the holder of the newest one of its family is signed out too. */
const endFamily = async (call: Call, family: string, userId: number): Promise<void> => {
  const ended = await call.db
    .updateTable('token_families')
    .set({ ended_at: call.now })
    .where('family', '=', family)
    .where('org_id', '=', accountScope(call))
    .where('ended_at', 'is', null)
    .returning('family')
    .executeTakeFirst()
  await call.db.updateTable('refresh_tokens').set({ row_mac: null }).where('family', '=', family).execute()
  if (ended) await call.audit(accountScope(call), `user:${userId}`, ['refresh_token reused', 'sign-in ended'])
}

export const refreshMobileToken: HandlerOf<'refreshMobileToken'> = {
  before: async ({ refresh_token }, outside) => {
    const { service, caller } = outside
    const known = await service.storage.read((db) => findToken({ db, caller }, refresh_token))
    if (!known) throw refused()
    const { user_id, family } = known
    if (known.spent_at === null && !service.keyring.holds('refresh_tokens', known)) throw refused()
    const access = await signAccess(outside, user_id)
    return async (call) => {
      if (known.spent_at !== null || !(await spend(call, known))) {
        const now = await findToken(call, refresh_token)
        if (now && now.spent_at !== null) await endFamily(call, family, user_id)
        return refused()
      }
      await call.audit(accountScope(call), `user:${user_id}`, ['refresh_token'])
      return { ...access, ...(await addRefreshToken(call, family, user_id)) }
    }
  },
}
