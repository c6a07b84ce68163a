import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { safeJson } from '../../core/safe-text.ts'
import { issuerIn } from '../../receipt/signature.ts'
import { digestOf, textSubject } from '../../receipt/subject.ts'
import type { Expectations } from '../../receipt/expectations.ts'
import { verifyReceipt } from '../../receipt/verify.ts'
import type { Context } from '../context/context.ts'
import { sameService } from '../program/command-line.ts'
import { getJson } from '../context/open-client.ts'
import type { Backend } from './backend.ts'
import { exitOfState, maybeNotified } from './messages.ts'
import type { Progress } from './progress.ts'
import { waitFor } from './wait.ts'
import { requireValid } from './receipt-check.ts'

/**
 * The organization of the request: from the request itself, from the answer of the service, as typed, or from the profile.
 */
export const organizationOf = async (
  ask: Pick<Ask, 'org_id'>,
  { record, typed }: { record?: Pick<ApprovalRecord, 'org_id'>; typed: string | undefined },
  context: Context,
): Promise<string | undefined> => {
  // A tool server does not report an organization.
  const id = ask.org_id ?? (record?.org_id || undefined)
  return id === undefined ? (typed ?? (await context.settings()).org?.value) : String(id)
}

export type Proving = {
  backend: Backend
  askedAt: number
  /** Accepts a key that can influence who approves. */
  allowUnseparated: boolean
  /** The organization as it was typed. */
  org: string | undefined
  /** What the receipt must match, from a file on this machine. Without it, the service names its own keys. */
  pinned?: Pinned | undefined
}

export type Pinned = {
  /** The key set of the service. */
  keys: unknown
  issuer: string
  /** Id or slug. */
  organization: string
  /** The public keys of the approver's passkeys (COSE, base64url). With them, the service alone cannot make a receipt. */
  passkeys?: readonly string[] | undefined
  allowDev: boolean
}

type Trusted = Pick<
  Expectations,
  'organization' | 'issuer' | 'allowDev' | 'allowUnseparated' | 'allowUnauthenticated'
> & { keys: unknown }

const pinnedTrust = ({ keys, issuer, organization, allowDev }: Pinned): Trusted => ({
  keys,
  issuer,
  organization,
  allowDev,
})

/** Takes the keys from the service that was asked. */
const serviceTrust = async (
  { backend: { origin, local }, allowUnseparated, org }: Omit<Proving, 'askedAt'>,
  { ask, record }: { ask: Ask; record: ApprovalRecord },
  context: Context,
): Promise<Trusted> => {
  const { cacert } = await context.settings()
  const keys = await getJson(context, `${origin}/.well-known/jwks.json`, cacert?.value)
  return {
    keys,
    // Checked if known; a development service on this machine may leave it open.
    organization: await organizationOf(ask, { record, typed: org }, context),
    issuer: issuerIn(keys) ?? origin,
    // `--dev` listens on loopback only, so from elsewhere such a receipt is a forgery.
    allowDev: local,
    allowUnseparated,
    // The requester is known: it is this run.
    allowUnauthenticated: local,
  }
}

/**
 * Returns the verified receipt of a request that was just approved, and the id in it. Throws if there is no receipt, or if it is
 * not for exactly this subject, approver and request.
 */
export const requireProof = async (
  ask: Ask,
  record: ApprovalRecord,
  { backend, askedAt, allowUnseparated, org, pinned }: Proving,
  context: Context,
): Promise<Approval> => {
  const { gateway, now, namesRequests } = backend
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
  const { keys, ...trusted } = pinned
    ? pinnedTrust(pinned)
    : await serviceTrust({ backend, allowUnseparated, org }, { ask, record }, context)
  const typed = ask.approver_mobile.replace(/[\s().-]/g, '')
  const at = now() + 1000
  const expected: Expectations = {
    ...trusted,
    digest: digestOf((ask.subject ?? textSubject(ask.action)).data),
    approver: /^\+\d+$/.test(typed) ? typed : record.approver_mobile,
    ...(ask.requester === undefined ? {} : { requester: record.requester }),
    ...(ask.factors === undefined ? {} : { factors: ask.factors }),
    // Not an old receipt for the same action: it must be for this request, or newer than it.
    ...(namesRequests ? { requestId: record.request_id } : { maxAgeS: (at - askedAt) / 1000 + 5 }),
  }
  const verdicts = await Promise.all(
    (pinned?.passkeys ?? [undefined]).map((pinnedKey) =>
      verifyReceipt(record.attestation, keys, { ...expected, pinnedKey }, new Date(at)),
    ),
  )
  const verdict = verdicts.find(({ valid }) => valid) ?? verdicts[0]!
  requireValid(verdict)
  return { id: verdict.claims!.jti, receipt: safeJson(record.attestation, 2) }
}

export type Approval = { id: string; receipt: string }

/** `nothing` says what did not happen: `nothing was run`. */
export const notApproved = ({ status, detail }: ApprovalRecord, nothing: string): SvcError =>
  new SvcError(exitOfState(status), status, `Not approved (${status}): ${nothing}`, {
    detail: detail ?? undefined,
  })

export type Asking = Omit<Proving, 'askedAt'> & { progress: Progress; nothing: string }

/** Withdraws a request that svc no longer waits for; prints a warning if that fails. */
export const withdraw = async (id: string, { gateway }: Backend, context: Context): Promise<void> => {
  try {
    await gateway.cancel(id)
  } catch (error) {
    // The request has already ended.
    if (error instanceof SvcError && ['refused', 'expired', 'denied', 'notFound'].includes(error.exit)) return
    ;(await context.output()).warn(
      `The request ${id} could not be withdrawn: svc approve cancel ${shellQuote(id)}${sameService(context.globals)}`,
    )
  }
}

/**
 * Requests an approval, waits, and returns the verified receipt and its id. Throws without an approval; `nothing` is for that
 * error: `nothing was run`.
 */
export const getApproval = async (
  ask: Ask,
  { progress, nothing, ...proving }: Asking,
  context: Context,
): Promise<Approval> => {
  const { signal } = context.io
  const { backend, org } = proving
  if (backend.tools && !backend.local && (await organizationOf(ask, { typed: org }, context)) === undefined)
    throw usageError(
      '--org is required with a tool server: the receipt must belong to your organization',
      'svc approve run --mcp --org acme, or svc profile set org=acme',
    )
  const askedAt = backend.now()
  const pending = await backend.gateway.request(ask).catch((error: unknown) => {
    throw maybeNotified(error, context, backend.tools)
  })
  const id = pending.request_id
  try {
    progress.requested(pending)
    const record = await waitFor(backend, pending, { progress, signal, globals: context.globals })
    progress.decided(record)
    if (record.status === 'pending') await withdraw(id, backend, context)
    if (record.status !== 'approved') throw notApproved(record, nothing)
    return await requireProof(ask, record, { ...proving, askedAt }, context)
  } catch (error) {
    progress.end()
    const ended = error instanceof SvcError && ['denied', 'expired', 'pending'].includes(error.code)
    if (!ended) await withdraw(id, backend, context)
    if (signal.aborted) throw new SvcError('interrupted', 'interrupted', `Interrupted; ${nothing}`)
    throw error
  }
}
