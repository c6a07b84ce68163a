import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Context } from '../context/context.ts'
import { sameService } from '../program/command-line.ts'
import type { Backend } from './backend.ts'
import { exitOfState, maybeNotified } from './messages.ts'
import type { Progress } from './progress.ts'
import { organizationOf, requireProof, type Approval, type Proving } from './proof.ts'
import { waitFor } from './wait.ts'

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
    if (record.status === 'approved') {
      const proven = await requireProof(ask, record, { ...proving, askedAt }, context)
      progress.decided(record)
      return proven
    }
    progress.decided(record)
    if (record.status === 'pending') await withdraw(id, backend, context)
    throw notApproved(record, nothing)
  } catch (error) {
    progress.end()
    const ended = error instanceof SvcError && ['denied', 'expired', 'pending'].includes(error.code)
    if (!ended) await withdraw(id, backend, context)
    if (signal.aborted) throw new SvcError('interrupted', 'interrupted', `Interrupted; ${nothing}`)
    throw error
  }
}
