import { waitFor } from '../asking/wait.ts'
import { checkedLines, parseLine } from '../contract/approvers.ts'
import { SvcError, usageError } from '../core/errors.ts'
import { isRecord } from '../core/is-record.ts'
import { shellQuote } from '../core/shell-quote.ts'
import type { Expectations } from '../receipt/expectations.ts'
import type { ReceiptVerification } from '../receipt/verify.ts'
import type { Client } from './create-client.ts'
import { asLibraryCall } from './error.ts'
import { furtherNames, type NamesOf, requireExpectations, requireKnown } from './known-fields.ts'

/** An approval request as the service reports it. */
export type ApprovalRequest = Awaited<ReturnType<Client['getApproval']>>

/** What exactly must have been approved. Compute it from what you are about to do, not from an answer of the service. */
export type Wanted = { action: string } | { digest: string } | { subject: { data: Record<string, unknown> } }

export type WatchOptions = {
  /** What exactly must have been approved: the action, the subject, or the SHA-256 of the subject. */
  wanted: Wanted
  /**
   * Whom you asked, as for `createApproval`. If you named nobody, pass an empty list: every line must then be of a rule that
   * everybody signed. Without it, the service says who had to agree.
   */
  approvers?: readonly string[]
  /** Further expectations of the receipt. Organization and issuer default to those of the service. */
  expected?: Omit<Expectations, 'status' | 'requestId' | 'digest' | 'action' | 'lines'>
  /** The key set of the service, if you keep a copy; default: read from the service. */
  jwks?: unknown
  /** Ends the wait. The request remains open: withdraw it with `withdrawApproval`. */
  signal?: AbortSignal
}

const optionNames: NamesOf<WatchOptions> = {
  wanted: true,
  approvers: true,
  expected: true,
  jwks: true,
  signal: true,
}

/**
 * How a request ended. Only `approved` is a yes, and its receipt is valid. `denied` has a verification if a person signed the
 * denial, and none if a rule of the organization denied.
 */
export type WatchedApproval =
  | { status: 'approved'; request: ApprovalRequest; receipt: ReceiptVerification; digest: string }
  | { status: 'denied'; request: ApprovalRequest; receipt?: ReceiptVerification }
  | { status: 'expired'; request: ApprovalRequest }

/** Seconds after the deadline in which the service may still report the decision. */
const grace = 10
/** For a service that does not report when its requests expire. */
const longestLifetime = 86_400

const digestOf = async (data: unknown): Promise<string> =>
  (await import('../receipt/subject.ts')).digestOf(data)

/**
 * The digest that the receipt must name. An action alone is a subject of the type `text`. Throws if something is missing, as it
 * can be in a program in JavaScript: without a digest, the receipt of any action would do.
 */
const wantedDigest = async (wanted: unknown): Promise<string> => {
  const { digest, subject, action } = isRecord(wanted) ? wanted : {}
  if (typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest)) return digest
  if (isRecord(subject) && isRecord(subject.data)) return digestOf(subject.data)
  if (typeof action === 'string') return digestOf({ text: action })
  throw usageError('watchApproval requires wanted: the action, the subject or its digest')
}

const notProven = (request: ApprovalRequest, receipt: ReceiptVerification | undefined): SvcError =>
  new SvcError('failed', 'receipt_not_valid', 'The service reports an approval, but nothing proves it', {
    detail: receipt
      ? receipt.checks
          .filter(({ ok }) => !ok)
          .map(({ name, detail }) => `${name}: ${detail}`)
          .join('; ')
      : 'There is no receipt.',
    hint: `Do not act on it: svc approve status ${shellQuote(request.request_id)}`,
  })

/**
 * Follows an approval request until it has ended, through a restart of the service, and verifies its receipt. Throws an
 * `SvcError` if the end is unknown (`unreachable`, `interrupted`), and if an approval is not proven (`receipt_not_valid`).
 */
export const watchApproval = async (
  client: Pick<Client, 'getApproval' | 'keySet' | 'origin'>,
  request_id: string,
  options: WatchOptions,
): Promise<WatchedApproval> => {
  const { wanted, approvers, expected = {}, jwks, signal } = options ?? {}
  const digest = await wantedDigest(wanted)
  requireKnown('watchApproval', options, optionNames)
  requireExpectations(expected, furtherNames)
  const named = approvers?.length === 0 ? [] : approvers && checkedLines(approvers, 'approvers')
  const lines = named?.map(parseLine)
  const calls = signal ? { signal } : {}
  const read = (wait_s?: number): Promise<ApprovalRequest> =>
    client.getApproval({ request_id, ...(wait_s !== undefined && { wait_s }) }, calls)
  const verified = async (request: ApprovalRequest): Promise<ReceiptVerification | undefined> => {
    if (!request.attestation) return undefined
    const keys = jwks ?? (await client.keySet(calls))
    const { issuerIn } = await import('../receipt/signature.ts')
    const { verdictOn } = await import('../asking/proof.ts')
    const trust = {
      organization: String(request.org_id),
      issuer: issuerIn(keys) ?? client.origin,
      ...expected,
      status: request.status === 'denied' ? ('denied' as const) : ('approved' as const),
      requestId: request_id,
      // A denial by one person ends a request of several.
      ...(lines && request.status !== 'denied' && { lines }),
      digest,
      keys,
    }
    return verdictOn(request.attestation, trust, Date.now())
  }
  return asLibraryCall(async () => {
    const first = await read()
    const started = performance.now()
    // The clock of the service, which goes on as this machine's does: that one may be wrong.
    const now = (): number => (Date.parse(first.requested_at) || 0) + performance.now() - started
    const service = { now, wait: (_: string, seconds: number) => read(seconds), tools: false, flags: '' }
    const request = await waitFor(service, first, { signal, most: longestLifetime + grace })
    const { status } = request
    if (status === 'expired') return { status, request }
    if (status === 'denied') {
      const receipt = await verified(request)
      return { status, request, ...(receipt?.valid && { receipt }) }
    }
    if (status !== 'approved')
      throw new SvcError('pending', 'pending', `The decision on ${request_id} is still pending`, {
        detail: 'This is not an approval.',
        hint: `svc approve status ${shellQuote(request_id)}`,
      })
    const receipt = await verified(request)
    if (!receipt?.valid) throw notProven(request, receipt)
    return { status, request, receipt, digest }
  }).catch((error: unknown) => {
    const isAborted = error instanceof SvcError && error.code === 'interrupted'
    const hint = `The request remains open: withdrawApproval withdraws ${request_id}`
    throw isAborted ? error.with({ hint }) : error
  })
}
