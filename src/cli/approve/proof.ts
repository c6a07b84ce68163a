import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/asker.ts'
import { SvcError } from '../../core/errors.ts'
import { safeJson } from '../../core/safe-text.ts'
import { verifyReceipt } from '../../receipt/verify.ts'
import type { Context } from '../context.ts'
import type { Backend } from './backend.ts'
import { getJson } from './get-json.ts'
import { requireValid } from './verdict.ts'

const digits = (mobile: string): string => mobile.replace(/[\s().-]/g, '')

/**
 * The receipt, and the id in it, of a request that has just been approved, verified: it must be for exactly what was asked, of the person
 * who was asked, by this request. Fails otherwise, and where there is none.
 */
export const requireProof = async (
  ask: Ask,
  record: ApprovalRecord,
  { backend, askedAt }: { backend: Backend; askedAt: number },
  context: Context,
): Promise<{ id: string; receipt: string }> => {
  const { asker, origin, local, now, namesRequests } = backend
  if (!asker.boundToAction || !record.attestation)
    throw new SvcError(
      'failed',
      'not_bound',
      'Nothing proves that the person saw this action, so nothing was done',
      {
        detail: asker.notice,
        hint: 'svc approve request works there without this proof',
      },
    )
  const { cacert } = await context.settings()
  const keys = await getJson(context, `${origin}/.well-known/jwks.json`, cacert?.value)
  const typed = digits(ask.approver_mobile)
  const at = now() + 1000
  const verdict = await verifyReceipt(
    record.attestation,
    keys,
    {
      action: ask.action,
      approver: /^\+\d+$/.test(typed) ? typed : record.approver_mobile,
      ...(ask.requester === undefined ? {} : { requester: record.requester }),
      ...(ask.factors === undefined ? {} : { factors: ask.factors }),
      // Not an old receipt of the same action: this very request, or decided since it was asked.
      ...(namesRequests ? { requestId: record.request_id } : { maxAgeS: (at - askedAt) / 1000 + 5 }),
      // `--dev` listens on loopback only, so from elsewhere such a receipt is a forgery.
      allowDev: local,
    },
    new Date(at),
  )
  requireValid(verdict)
  return { id: verdict.claims!.jti, receipt: safeJson(record.attestation, 2) }
}
