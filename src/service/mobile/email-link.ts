import { randomToken, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { conflict, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { ofMember } from '../call/tenant.ts'
import { consume, consumeOrRefuse } from '../limits/rate-limit.ts'
import { accountScope, findAccount, readAccount, requireAccount } from './person.ts'

// spec: not shown
const lifetimeMs = 24 * 60 * 60_000
const links = { kind: 'email_link', atMost: 3, windowMs: 60 * 60_000 }

const limited = (call: Call, userId: number) => ({ org_id: accountScope(call), subject: `user:${userId}` })

/** Sends a link that verifies an address and replaces any earlier link. The token is after the `#`, so no log contains it. */
const sendLink = async (call: Call, user_id: number, email: string): Promise<string> => {
  const org_id = accountScope(call)
  const token = randomToken()
  const expires_at = addMs(call.now, lifetimeMs)
  await call.db.deleteFrom('email_verifications').where(ofMember({ org_id, user_id })).execute()
  const row = { org_id, user_id, email, token_hash: sha256(token), created_at: call.now, expires_at }
  await call.db
    .insertInto('email_verifications')
    .values({ ...row, row_mac: call.keyring.macOf('email_verifications', row) })
    .execute()
  await call.send({
    org_id,
    channel: 'email',
    kind: 'email_verification',
    to: email,
    subject: 'Confirm your e-mail address',
    text: [
      'This address was entered for an account, probably by you.',
      'Open this link to confirm that it is yours. It works once, for one day:',
      `${call.service.publicUrl}/approver#verify-email=${token}`,
      'If it was not you, ignore this e-mail.',
    ].join('\n\n'),
    expires_at,
  })
  return expires_at
}

/** Sends a link for an address that is not verified, if e-mail is configured and the limit allows it. */
export const sendLinkIfPossible = async (call: Call, userId: number): Promise<void> => {
  const account = await findAccount(call, userId)
  if (!account?.email || account.email_verified_at !== null || !call.service.channels.has('email')) return
  if ((await consume(call, links, limited(call, userId))).taken) await sendLink(call, userId, account.email)
}

export const resendEmailVerification: HandlerOf<'resendEmailVerification'> = async (input, call) => {
  const { user_id, account } = await requireAccount(call, input)
  if (account.email === null)
    throw conflict('no_email', 'The account has no e-mail address', 'svc mobile update-profile --email')
  if (account.email_verified_at !== null)
    throw conflict('email_verified', 'The e-mail address is already verified')
  const consumed = await consumeOrRefuse(call, links, limited(call, user_id), {
    code: 'too_many_sends',
    what: `${links.atMost} links were sent in the last hour`,
  })
  const expires_at = await sendLink(call, user_id, account.email)
  await call.audit(accountScope(call), `user:${user_id}`, ['email_verification'])
  return { expires_at, sends_left: consumed.left, next_send_at: consumed.next_at }
}

const linkExpired = (): Refusal =>
  new Refusal(410, 'link_over', 'This link has expired, was already used, or was replaced by a newer one', {
    hint: 'Request a new link in the app: svc mobile resend-email',
  })

/** A link that works, and the account that still has its address. */
const findLink = async (call: Call, token: string) => {
  const { db, now, keyring } = call
  const link = await db
    .selectFrom('email_verifications')
    .where('token_hash', '=', sha256(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .selectAll()
    .executeTakeFirstOrThrow(linkExpired)
  if (!keyring.holds('email_verifications', link)) throw linkExpired()
  const account = await readAccount(call, link)
  if (account?.email !== link.email) throw linkExpired()
  return { link, account }
}

export const readEmailLink: HandlerOf<'readEmailLink'> = async ({ token }, call) => {
  const { email } = (await findLink(call, token)).link
  return { email }
}

/** Uses up the token of a link, in one statement. */
export const verifyEmail: HandlerOf<'verifyEmail'> = async ({ token }, call) => {
  const { db, now, keyring } = call
  const { link, account } = await findLink(call, token)
  const { org_id, user_id } = link
  await db
    .updateTable('email_verifications')
    .set({ used_at: now, row_mac: null })
    .where('id', '=', link.id)
    .where('row_mac', '=', link.row_mac)
    .where('used_at', 'is', null)
    .returning('id')
    .executeTakeFirstOrThrow(linkExpired)
  const verified = { email_verified_at: now }
  await db
    .updateTable('mobile_accounts')
    .set({ ...verified, row_mac: keyring.macOf('mobile_accounts', { ...account, ...verified }) })
    .where(ofMember({ org_id, user_id }))
    .where('row_mac', '=', account.row_mac)
    .returning('id')
    .executeTakeFirstOrThrow(linkExpired)
  await call.audit(org_id, `user:${user_id}`, ['email_verified_at'], `user:${user_id}`)
}
