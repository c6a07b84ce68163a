import { randomBytes } from 'node:crypto'
import { authCodeRecord } from '../../contract/auth-code.ts'
import { sha256 } from '../../core/ids.ts'
import { invalid, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import { reachOrganization } from '../call/tenant.ts'

// Crockford's base32 has no I, L, O and U, so that a code survives being read aloud.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 80 random bits in four groups of four, shown once. The store has only the hash and the last four characters. */
const newAuthCode = (): { code: string; hash: string; hint: string } => {
  const bare = Array.from(randomBytes(16), (byte) => alphabet[byte % 32]!).join('')
  return { code: bare.match(/.{4}/g)!.join('-'), hash: sha256(bare), hint: bare.slice(-4) }
}

const columns = Object.keys(authCodeRecord.shape) as (keyof typeof authCodeRecord.shape)[]

/** The time in UTC, in which times compare as text. */
const futureMoment = (call: Call, text: string): string => {
  const at = new Date(text).toISOString()
  // A zone can turn the end of 9999 into `+010000`. As text that comes first, so it is refused as well.
  if (at <= call.now) throw invalid('expires_at', 'must be in the future')
  return at
}

type NewCode = { label: string; uses?: number | undefined; expires_at?: string | undefined }

export const insertAuthCode = async (call: Call, orgId: number, input: NewCode) => {
  const { code, hash, hint } = newAuthCode()
  const row = await call.db
    .insertInto('auth_codes')
    .values({
      org_id: orgId,
      label: input.label,
      code_hash: hash,
      hint,
      uses_left: input.uses ?? null,
      expires_at: input.expires_at === undefined ? null : futureMoment(call, input.expires_at),
      created_at: call.now,
      updated_at: call.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  await call.audit(orgId, `auth-code:${row.id}`)
  return { ...row, code }
}

export const listAuthCodes: HandlerOf<'listAuthCodes'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const query = call.db.selectFrom('auth_codes').where('org_id', '=', org_id).select(columns)
  return readPage(call, query, 'id')
}

export const createAuthCode: HandlerOf<'createAuthCode'> = async ({ org_id, ...input }, call) => {
  await reachOrganization(call, org_id)
  return insertAuthCode(call, org_id, input)
}

export const updateAuthCode: HandlerOf<'updateAuthCode'> = async ({ orgId, authCodeId, ...input }, call) => {
  await reachOrganization(call, orgId)
  const { uses, expires_at, ...label } = changedFields(input, ['label', 'uses', 'expires_at'])
  const present = await call.db
    .selectFrom('auth_codes')
    .where('org_id', '=', orgId)
    .where('id', '=', authCodeId)
    .select('expires_at')
    .executeTakeFirstOrThrow(() => notFound('Auth code'))
  // The end of an expired code can be repeated, so that it can be relabelled.
  const moved = expires_at !== undefined && Date.parse(expires_at) !== Date.parse(present.expires_at ?? '')
  const row = await call.db
    .updateTable('auth_codes')
    .set({
      ...label,
      ...(uses !== undefined && { uses_left: uses }),
      ...(moved && { expires_at: futureMoment(call, expires_at) }),
      updated_at: call.now,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', authCodeId)
    .returning(columns)
    .executeTakeFirstOrThrow()
  await call.audit(orgId, `auth-code:${authCodeId}`)
  return row
}

export const deleteAuthCode: HandlerOf<'deleteAuthCode'> = async ({ org_id, auth_code_id }, call) => {
  await reachOrganization(call, org_id)
  await call.db
    .deleteFrom('auth_codes')
    .where('org_id', '=', org_id)
    .where('id', '=', auth_code_id)
    .returning('id')
    .executeTakeFirstOrThrow(() => notFound('Auth code'))
  await call.audit(org_id, `auth-code:${auth_code_id}`)
}
