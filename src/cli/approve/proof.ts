import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError } from '../../core/errors.ts'
import { safeJson } from '../../core/safe-text.ts'
import { digestOf, textSubject } from '../../receipt/subject.ts'
import { verifyReceipt } from '../../receipt/verify.ts'
import type { Context } from '../context/context.ts'
import type { Backend } from './backend.ts'
import { issuerIn, requireValid } from './receipt-check.ts'
import { getJson } from './public-json.ts'

const digits = (mobile: string): string => mobile.replace(/[\s().-]/g, '')

/**
 * The organization of the request: as it was asked for, as the service said when it took it, as it was typed, or that of the
 * profile.
 */
export const organizationOf = async (
  ask: Pick<Ask, 'org_id'>,
  { asked, typed }: { asked?: Pick<ApprovalRecord, 'org_id'>; typed: string | undefined },
  context: Context,
): Promise<string | undefined> => {
  // A tool server names none.
  const id = ask.org_id ?? (asked?.org_id || undefined)
  return id === undefined ? (typed ?? (await context.settings()).org?.value) : String(id)
}

export type Proving = {
  backend: Backend
  askedAt: number
  /** The key may influence who approves, and that is known and accepted. */
  allowUnseparated: boolean
  /** The organization as it was typed. */
  org: string | undefined
}

/**
 * The receipt, and the id in it, of a request that has just been approved, verified: it must be for exactly what was asked, of the person
 * who was asked, by this request. Fails otherwise, and where there is none.
 */
export const requireProof = async (
  ask: Ask,
  record: ApprovalRecord,
  { backend, askedAt, allowUnseparated, org }: Proving,
  context: Context,
): Promise<{ id: string; receipt: string }> => {
  const { gateway, origin, local, now, namesRequests } = backend
  if (!gateway.boundToAction || !record.attestation)
    throw new SvcError(
      'failed',
      'not_bound',
      'Nothing proves that the person saw this action, so nothing was done',
      {
        detail: gateway.notice,
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
      // Each is checked where it is known; on this machine, a development service may leave them open.
      organization: await organizationOf(ask, { asked: record, typed: org }, context),
      issuer: issuerIn(keys) ?? origin,
      digest: digestOf((ask.subject ?? textSubject(ask.action)).data),
      approver: /^\+\d+$/.test(typed) ? typed : record.approver_mobile,
      ...(ask.requester === undefined ? {} : { requester: record.requester }),
      ...(ask.factors === undefined ? {} : { factors: ask.factors }),
      // Not an old receipt of the same action: this very request, or decided since it was asked.
      ...(namesRequests ? { requestId: record.request_id } : { maxAgeS: (at - askedAt) / 1000 + 5 }),
      // `--dev` listens on loopback only, so from elsewhere such a receipt is a forgery.
      allowDev: local,
      allowUnseparated,
      // It is known who asked: this very run.
      allowUnauthenticated: local,
    },
    new Date(at),
  )
  requireValid(verdict)
  return { id: verdict.claims!.jti, receipt: safeJson(record.attestation, 2) }
}
