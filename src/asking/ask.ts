import type { ApprovalRecord } from '../contract/approval.ts'
import type { Ask } from '../contract/approval-gateway.ts'
import { SvcError, usageError } from '../core/errors.ts'
import { shellQuote } from '../core/shell-quote.ts'
import type { Backend } from './backend.ts'
import { interrupted, maybeNotified, NotApproved } from './outcome.ts'
import type { Progress } from './progress.ts'
import { digestOfAsk, organizationOf, type Trust } from './proof.ts'
import { requireSeparated, type Separated } from './separation.ts'
import { waitFor } from './wait.ts'

/** What is asked, without whom. */
export type Wanted = Omit<Ask, keyof Who>

export type Who = Pick<Ask, 'approvers'>

export type Terms = {
  backend: Backend
  progress: Progress
  signal: AbortSignal
  /** What did not happen without an approval: `nothing was run`. */
  nothing: string
  /**
   * `required`: the receipt permits this use, and the request is withdrawn if it does not. `reported`: the receipt is genuine,
   * and the request stays open if the wait ends.
   */
  proof: 'required' | 'reported'
  /** `always`: the approval is used up. `if-possible`: only if the service can do that; a tool server cannot. */
  once: 'always' | 'if-possible' | 'never'
  /** Refuses a requesting key that can influence who approves, or accepts `any-key`. */
  separated: Separated | 'any-key'
  /** What the receipt must match, from files of this machine. */
  pinned?: Trust | undefined
  /** Seconds after which not to wait any longer. */
  most?: number | undefined
  /** Sends the request; it can ask a person for other values, and send again. */
  submit?(ask: Ask, send: () => Promise<ApprovalRecord>): Promise<ApprovalRecord>
  /** Runs between the proof and the use. Throws if what was approved is no longer what would be done. */
  recheck?: (() => void | Promise<void>) | undefined
}

/** Withdraws a request that svc no longer waits for, and says whether that succeeded. */
const withdraw = async (
  id: string,
  { backend, progress }: Pick<Terms, 'backend' | 'progress'>,
): Promise<void> => {
  try {
    await backend.withdraw(id)
    // A tool server does not say what became of it.
    if (!backend.tools) progress.warn(`The request ${id} was withdrawn`)
  } catch (error) {
    // The request has already ended, perhaps with its key.
    const ends = ['refused', 'expired', 'denied', 'notFound']
    const isOver = error instanceof SvcError && (ends.includes(error.exit) || error.http_status === 401)
    if (isOver && error.code !== 'not_supported') return
    const next = backend.tools
      ? 'the tool server left it open'
      : `svc approve withdraw ${shellQuote(id)}${backend.flags}`
    progress.warn(`The request ${id} could not be withdrawn: ${next}`)
  }
}

/** Throws, before anybody is notified, if no approval could satisfy the terms. */
const requirePossible = async (
  ask: Ask,
  { backend, proof, once, separated, nothing }: Terms,
): Promise<void> => {
  if (ask.break_glass !== undefined && backend.tools)
    throw usageError(
      '--break-glass cannot be used with a tool server: only a signed-in person can break the glass',
      'svc profile login',
    )
  if (once === 'always' && !backend.consume)
    throw new SvcError('failed', 'not_once', `A tool server cannot use up an approval: ${nothing}`, {
      hint: 'Use the REST API: svc profile login --ask',
    })
  if (separated !== 'any-key') await requireSeparated(separated)
  const isElsewhere = backend.tools && !backend.local
  if (proof === 'required' && isElsewhere && (await organizationOf([ask], backend)) === undefined)
    throw usageError(
      '--org is required with a tool server: the receipt must belong to your organization',
      'svc approve run --mcp --org acme, or svc profile set org=acme',
    )
}

const notBound = ({ notice }: Backend): SvcError =>
  new SvcError('failed', 'not_bound', 'Nothing proves that the person saw this action, so nothing was done', {
    detail: notice,
    hint: 'svc approve request works there without this proof',
  })

/** `id` is that in the receipt, if the proof is required. */
export type Approval = { id: string; record: ApprovalRecord }

/** Waits for the decision on a new request, and proves what the terms require. */
const awaited = async (ask: Ask, first: ApprovalRecord, since: number, terms: Terms): Promise<Approval> => {
  const { backend, progress, signal, nothing, proof, most, pinned, separated } = terms
  // Of what was granted earlier, nobody is asked.
  if (first.status === 'pending') progress.requested(first)
  const record = await waitFor(backend, first, { progress, signal, most })
  let id = record.request_id
  if (proof === 'required' && record.status === 'approved') {
    if (!backend.boundToAction || !record.attestation) throw notBound(backend)
    id = await backend.prove(record, { ask, since, pinned, allowUnseparated: separated === 'any-key' })
  }
  progress.decided(record)
  if (record.status === 'approved') return { id, record }
  throw new NotApproved(record, nothing)
}

/**
 * Asks people for an approval of exactly this, waits, proves it, and uses it up as the terms say. Throws in every other case, and
 * nothing may be done then; the error says what did not happen.
 */
export const ask = async (wanted: Wanted, who: Who, terms: Terms): Promise<Approval> => {
  const { backend, progress, signal, nothing, proof, submit = (_, send) => send(), recheck } = terms
  const request: Ask = { ...wanted, ...who }
  await requirePossible(request, terms)
  const since = backend.now()
  const send = (): Promise<ApprovalRecord> =>
    backend.request(request).catch((error: unknown) => {
      throw maybeNotified(error, backend)
    })
  const first = await submit(request, send)
  let approval: Approval
  try {
    approval = await awaited(request, first, since, terms)
  } catch (error) {
    progress.end()
    if (proof === 'reported') throw error
    const ended = error instanceof NotApproved && error.record.status !== 'pending'
    if (!ended) await withdraw(first.request_id, terms)
    if (signal.aborted) throw interrupted(nothing)
    throw error
  }
  await recheck?.()
  if (terms.once !== 'never') await backend.consume?.(approval.id, digestOfAsk(request))
  if (proof === 'required' && signal.aborted) throw interrupted(nothing)
  return approval
}

/** Waits for a request that the service itself has made. Without an approval, withdraws it if it is pending, and throws. */
export const awaitHeld = async (
  id: string,
  { backend, progress, signal, nothing }: Pick<Terms, 'backend' | 'progress' | 'signal' | 'nothing'>,
): Promise<void> => {
  let isOpen = true
  try {
    const first = await backend.status(id)
    if (first.status === 'pending') progress.waiting(first)
    const record = await waitFor(backend, first, { progress, signal })
    isOpen = record.status === 'pending'
    progress.decided(record)
    if (record.status !== 'approved') throw new NotApproved(record, nothing)
  } catch (error) {
    progress.end()
    if (isOpen) await withdraw(id, { backend, progress })
    throw signal.aborted ? interrupted(nothing) : error
  } finally {
    progress.end()
  }
}
