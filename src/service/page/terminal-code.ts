import { hourMs } from '../../core/iso-time.ts'
import { sha256 } from '../../core/ids.ts'
import { notFound, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import type { Moment, Service } from '../call/service.ts'
import type { Member } from '../call/tenant.ts'
import { openRequest } from './authorization.ts'
import { notifyMember } from '../devices/notices.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'

// The code of a terminal without a browser, which a person types on the page (RFC 8628).

/** A code has 34 bits and lives ten minutes. */
const tries = { kind: 'terminal code', atMost: 10, windowMs: hourMs }

export const hashOfCode = (code: string): string =>
  sha256(`terminal code:${code.toUpperCase().replace(/[^A-Z]/g, '')}`)

export const openTerminalCode: HandlerOf<'openTerminalCode'> = async ({ code }, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  await consumeOrRefuse(
    call,
    tries,
    { org_id, subject: `user:${user_id}` },
    { code: 'too_many_codes', what: `You typed ${tries.atMost} codes within an hour` },
  )
  await call.audit(org_id, `user:${user_id}`, ['terminal_code'])
  const code_hash = hashOfCode(code)
  const row = await call.db
    .selectFrom('device_codes')
    .where('code_hash', '=', code_hash)
    .where('answer', 'is', null)
    .where('expires_at', '>', call.now)
    .select('request')
    .executeTakeFirst()
  // The store could name the request of another terminal.
  const isOwn =
    row && openRequest(call.keyring, row.request, call.now).terminal?.device?.code_hash === code_hash
  // Returned, so that a wrong code counts.
  return isOwn ? row : notFound('Code')
}

/** The answer to a terminal whose person refused. */
export const refusedAnswer = ''

const setAnswer = ({ db, now }: Moment, hash: string, answer: string) =>
  db
    .updateTable('device_codes')
    .set({ answer })
    .where('device_hash', '=', hash)
    .where('answer', 'is', null)
    .where('expires_at', '>', now)
    .returning('code_hash')

/** Ends a code that somebody refused, so that nobody can be talked into typing it again. */
export const refuseTerminal = ({ storage }: Service, { hash }: { hash: string }) =>
  storage.write((db) => setAnswer({ db, now: storage.now() }, hash, refusedAnswer).execute(), {
    org: 0,
    routine: true,
  })

/** Gives a waiting terminal its code, once, and tells every device of the person. */
export const answerTerminal = async (
  call: Call,
  member: Member,
  { hash, code }: { hash: string; code: string },
): Promise<void> => {
  await setAnswer(call, hash, code).executeTakeFirstOrThrow(
    () =>
      new Refusal(410, 'authorization_over', 'The terminal does not wait any more', {
        hint: 'Start again there',
      }),
  )
  await notifyMember(call, member, {
    subject: 'A terminal was signed in',
    text: 'With a code that was typed on the approver page, a terminal can ask for approvals in your name for an hour. If this was not you, disconnect it on the approver page under Signed in, and tell your administrator.',
  })
}
