import type { ApprovalRecord } from '../contract/approval.ts'
import { SvcError } from '../core/errors.ts'
import { withdraw, type Terms } from './ask.ts'
import { interrupted, NotApproved } from './outcome.ts'
import { waitFor } from './wait.ts'

/**
 * Waits until one of several requests that the service has made is approved, and returns its id. Without an approval, withdraws
 * what is pending and throws.
 */
export const awaitAny = async (
  ids: readonly string[],
  { backend, progress, signal, nothing }: Pick<Terms, 'backend' | 'progress' | 'signal' | 'nothing'>,
): Promise<string> => {
  const open = new Set(ids)
  const done = new AbortController()
  const either = AbortSignal.any([signal, done.signal])
  const decide = async (first: ApprovalRecord): Promise<string> => {
    if (first.status === 'pending') progress.waiting(first)
    const record = await waitFor(backend, first, { progress, signal: either })
    if (record.status !== 'pending') open.delete(record.request_id)
    progress.decided(record)
    if (record.status === 'approved') return record.request_id
    throw new NotApproved(record, nothing)
  }
  try {
    const first = await Promise.all(ids.map((id) => backend.status(id)))
    return await Promise.any(first.map(decide)).catch((error: AggregateError) => {
      // A denial says more than an expired request.
      throw error.errors.find((one) => one instanceof SvcError && one.code === 'denied') ?? error.errors[0]
    })
  } catch (error) {
    progress.end()
    await Promise.all([...open].map((id) => withdraw(id, { backend, progress })))
    throw signal.aborted ? interrupted(nothing) : error
  } finally {
    done.abort()
    progress.end()
  }
}
