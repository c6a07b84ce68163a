import type { Ask } from '../../contract/approval-gateway.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { SvcError } from '../../core/errors.ts'
import { samePhone } from '../../core/phone-parts.ts'
import { safeJson } from '../../core/safe-text.ts'
import type { Expectations } from '../../receipt/expectations.ts'
import { sentence } from '../../receipt/sentence.ts'
import { issuerIn } from '../../receipt/signature.ts'
import { digestOf, textSubject } from '../../receipt/subject.ts'
import { verifyReceipt, type ReceiptVerification } from '../../receipt/verify.ts'
import type { Context } from '../context/context.ts'
import { getJson } from '../context/open-client.ts'
import type { Backend } from './backend.ts'

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

export type Approval = { id: string; receipt: string }

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
  { origin, local }: Pick<Backend, 'origin' | 'local'>,
  { ask, record, org }: { ask: Partial<Ask>; record: ApprovalRecord; org: string | undefined },
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
    // The requester is known: it is this run.
    allowUnauthenticated: local,
  }
}

/** Throws with the failed checks. */
const requireValid = (verdict: ReceiptVerification): void => {
  if (verdict.valid) return
  throw new SvcError('failed', 'receipt_not_valid', 'The receipt is not valid, so nothing was done', {
    detail: sentence(verdict),
  })
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
    : { ...(await serviceTrust(backend, { ask, record, org }, context)), allowUnseparated }
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

/**
 * What a receipt says about the requesting key and the device. It decides what an approval may be used for, and not whether the
 * person approved.
 */
const aboutInfluence = new Set(['enrollment', 'separation', 'authenticated requester'])

const unproved = ({ request_id }: ApprovalRecord, why: string): SvcError =>
  new SvcError('failed', 'unproved', `The service reports ${request_id} as approved and does not prove it`, {
    detail: `${why.replace(/[^.!?]$/, '$&.')} This is not an approval.`,
    hint: 'Check that this is the right service: svc profile show --explain',
  })

/**
 * Throws unless the receipt of a request that a service reports as approved is genuine and for exactly this request. Without
 * `ask`, the request is of another run, and the receipt must be for what the service says that was requested. `isNamed`: the id
 * of the record is that of the service.
 */
export const requireGenuine = async (
  record: ApprovalRecord,
  { ask, isNamed = true }: { ask: Ask | undefined; isNamed?: boolean },
  backend: Pick<Backend, 'origin' | 'local' | 'now'>,
  context: Context,
): Promise<void> => {
  const { attestation, request_id, action, subject, approver_mobile } = record
  if (!attestation)
    throw unproved(
      record,
      record.cleared_at === undefined
        ? 'There is no receipt'
        : 'Its receipt was removed after the retention period',
    )
  const about = { ask: ask ?? {}, record, org: undefined }
  const { keys, ...trusted } = await serviceTrust(backend, about, context).catch((error: unknown) => {
    // A service that restarts is asked again; one without keys has none later either.
    const hasNone = error instanceof SvcError && /^(?:http_[34]\d\d|not_json)$/.test(error.code)
    throw hasNone ? unproved(record, `Its keys cannot be read: ${error.message}`) : error
  })
  const expected: Expectations = {
    ...trusted,
    digest: digestOf((ask?.subject ?? (ask ? null : subject) ?? textSubject(ask?.action ?? action)).data),
    factors: ask?.factors,
    ...(isNamed && { requestId: request_id }),
  }
  const verdict = await verifyReceipt(attestation, keys, expected, new Date(backend.now() + 1000))
  const { claims } = verdict
  const isIgnored = (name: string): boolean =>
    aboutInfluence.has(name) || (name === 'expected organization' && expected.organization === undefined)
  const checks = verdict.checks.filter(({ name, ok }) => !ok && !isIgnored(name))
  if (checks.length > 0 || !claims) throw unproved(record, sentence({ ...verdict, valid: false, checks }))
  const differs =
    [ask?.approver_mobile ?? approver_mobile, approver_mobile].some(
      (mobile) => samePhone(mobile, claims.sub) === false,
    ) ||
    (!ask && claims.action !== action)
  if (differs) throw unproved(record, 'Its receipt is for another person or action')
}
