import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { sameService } from '../program/command-line.ts'
import type { Backend } from './backend.ts'
import { exitOfState, maybeNotified } from './messages.ts'
import type { Proving } from './proof.ts'
import type { Progress } from './progress.ts'
import { waitFor } from './wait.ts'

export type Approval = { id: string; receipt: string }

type Asking = Omit<Proving, 'askedAt'> & { progress: Progress; nothing: string }

/** No prompt stays live that nobody waits for; says so where it cannot be taken back. */
export const withdraw = async (id: string, { gateway }: Backend, context: Context): Promise<void> => {
  try {
    await gateway.cancel(id)
  } catch (error) {
    // It has ended by itself.
    if (error instanceof SvcError && ['refused', 'expired', 'denied', 'notFound'].includes(error.exit)) return
    ;(await context.output()).warn(
      `The request ${id} could not be withdrawn: svc approve cancel ${shellQuote(id)}${sameService(context.globals)}`,
    )
  }
}

/**
 * The verified receipt and the id of an approval; fails with how it ended otherwise. `nothing` says what did not happen
 * then: `nothing was run`.
 */
export const getApproval = async (
  ask: Ask,
  { backend, progress, nothing, allowUnseparated, org }: Asking,
  context: Context,
): Promise<Approval> => {
  const { signal } = context.io
  const { organizationOf, requireProof } = await import('./proof.ts')
  if (backend.tools && !backend.local && (await organizationOf(ask, { typed: org }, context)) === undefined)
    throw usageError(
      '--org is required with a tool server: the receipt must be of your organization',
      'svc approve run --mcp --org acme, or svc profile set org=acme',
    )
  const askedAt = backend.now()
  const asked = await backend.gateway.request(ask).catch((error: unknown) => {
    throw maybeNotified(error, context, backend.tools)
  })
  const id = asked.request_id
  try {
    progress.requested(asked)
    const record = await waitFor(backend, asked, { progress, signal, globals: context.globals })
    progress.decided(record)
    if (record.status === 'pending') await withdraw(id, backend, context)
    if (record.status !== 'approved')
      throw new SvcError(
        exitOfState(record.status),
        record.status,
        `Not approved (${record.status}): ${nothing}`,
        {
          detail: record.detail ?? undefined,
        },
      )
    return await requireProof(ask, record, { backend, askedAt, allowUnseparated, org }, context)
  } catch (error) {
    progress.end()
    const ended = error instanceof SvcError && ['denied', 'expired', 'pending'].includes(error.code)
    if (!ended) await withdraw(id, backend, context)
    if (signal.aborted) throw new SvcError('interrupted', 'interrupted', `Interrupted; ${nothing}`)
    throw error
  }
}
