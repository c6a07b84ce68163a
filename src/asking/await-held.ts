import { withdraw, type Terms } from './ask.ts'
import { interrupted, NotApproved } from './outcome.ts'
import { waitFor } from './wait.ts'

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
