import type { ApprovalRecord } from '../../contract/approval.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { openBackend } from './open-backend.ts'
import { withdraw } from './get-approval.ts'
import { exitOfState } from './state.ts'
import { createTeller } from './progress.ts'
import { waitFor } from './wait-for.ts'

/** The requests that the service has made because a rule of the organization requires an approval. */
const requestsIn = ({ data }: SvcError): string[] => {
  const requests = Array.isArray(data?.requests) ? data.requests : []
  return requests.flatMap((one: unknown) => {
    const id = (one as { request_id?: unknown } | null)?.request_id
    return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? [id] : []
  })
}

const notApproved = ({ status, detail }: ApprovalRecord): SvcError =>
  new SvcError(
    exitOfState(status),
    status,
    `Not approved (${status}): the service requires an approval, and nothing was changed`,
    { detail: detail ?? undefined },
  )

/** Of several waits that ended without an approval: a denial says the most, and else the first. */
const mostTelling = ({ errors }: AggregateError): unknown =>
  errors.find((error) => error instanceof SvcError && error.code === 'denied') ?? errors[0]

/**
 * Waits until one of those whom the service has asked approves, and answers the id of that request: the call is repeated with
 * it. Fails as they decided; nothing was changed then.
 */
export const awaitRequired = async (context: Context, required: SvcError): Promise<string> => {
  const ids = requestsIn(required)
  if (ids.length === 0) throw required
  const { io, globals } = context
  const output = await context.output()
  output.warn(`${safeLine(required.message)}. Waiting for: ${ids.join(', ')}`)
  const backend = await openBackend(context, { through: 'service', bound: true })
  // Its lines go to stderr, whatever the format of the answer is.
  const tell = createTeller({ io, globals: { ...globals, output: undefined } }, backend.secondsLeft)
  const open = new Set(ids)
  const done = new AbortController()
  const signal = AbortSignal.any([io.signal, done.signal])
  try {
    const first = await Promise.all(ids.map((id) => backend.gateway.status(id)))
    const waits = first.map(async (record) => {
      if (record.status === 'pending') tell.waiting(record)
      const decided = await waitFor(backend, record, { tell, signal, globals })
      if (decided.status !== 'pending') open.delete(decided.request_id)
      tell.decided(decided)
      if (decided.status !== 'approved') throw notApproved(decided)
      return decided.request_id
    })
    return await Promise.any(waits).catch((error: AggregateError) => {
      throw mostTelling(error)
    })
  } catch (error) {
    tell.end()
    await Promise.all([...open].map((id) => withdraw(id, backend, context)))
    if (io.signal.aborted)
      throw new SvcError('interrupted', 'interrupted', 'Interrupted; nothing was changed')
    throw error
  } finally {
    done.abort()
    tell.end()
    await backend.close()
  }
}
