import { sha256 } from '../../core/ids.ts'
import { notFound, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import type { Member } from '../call/tenant.ts'
import { notifyMember } from '../devices/notices.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'

// The code of a terminal without a browser, which a person types on the page (RFC 8628).

/** A code has 34 bits and lives ten minutes. */
const tries = { kind: 'terminal code', atMost: 10, windowMs: 60 * 60_000 }

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
  const row = await call.db
    .selectFrom('device_codes')
    .where('code_hash', '=', hashOfCode(code))
    .where('answer', 'is', null)
    .where('expires_at', '>', call.now)
    .select('request')
    .executeTakeFirst()
  // Returned, so that a wrong code counts.
  return row ?? notFound('Code')
}

/** Gives a waiting terminal its code, once, and tells every device of the person. */
export const answerTerminal = async (
  call: Call,
  member: Member,
  { hash, code }: { hash: string; code: string },
): Promise<void> => {
  await call.db
    .updateTable('device_codes')
    .set({ answer: code })
    .where('device_hash', '=', hash)
    .where('answer', 'is', null)
    .where('expires_at', '>', call.now)
    .returning('code_hash')
    .executeTakeFirstOrThrow(
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
