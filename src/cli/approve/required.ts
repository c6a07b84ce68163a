import type { ApprovalRecord } from '../../contract/approval.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context.ts'
import { openBackend, type Backend } from './backend.ts'
import { exitOfState } from './state.ts'
import { createTeller } from './teller.ts'
import { waitFor } from './wait-for.ts'

/** The requests that the service has made because a rule of the organization requires an approval. */
const requestsIn = ({ data }: SvcError): string[] => {
  const requests = Array.isArray(data?.requests) ? data.requests : []
  return requests.flatMap((one: unknown) => {
    const id = (one as { request_id?: unknown } | null)?.request_id
    return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? [id] : []
  })
}

const withdrawAll = async (ids: readonly string[], { asker }: Backend): Promise<void> => {
  // One that has ended by itself is no matter.
  await Promise.all(ids.map((id) => asker.cancel(id).catch(() => undefined)))
}

const notApproved = (records: readonly ApprovalRecord[]): SvcError => {
  const denied = records.find(({ status }) => status === 'denied')
  const { status, detail } = denied ?? records[0]!
  return new SvcError(
    exitOfState(status),
    status,
    `Not approved (${status}): the service requires an approval, and nothing was changed`,
    { detail: detail ?? undefined },
  )
}

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
  const done = new AbortController()
  const signal = AbortSignal.any([io.signal, done.signal])
  try {
    const first = await Promise.all(ids.map((id) => backend.asker.status(id)))
    const ended: ApprovalRecord[] = []
    const waits = first.map(async (record) => {
      if (record.status === 'pending') tell.waiting(record)
      const decided = await waitFor(backend, record, { tell, signal, globals })
      tell.decided(decided)
      ended.push(decided)
      if (decided.status !== 'approved') throw notApproved([decided])
      return decided.request_id
    })
    return await Promise.any(waits).catch(() => {
      throw notApproved(ended)
    })
  } catch (error) {
    tell.end()
    await withdrawAll(ids, backend)
    if (io.signal.aborted)
      throw new SvcError('interrupted', 'interrupted', 'Interrupted; nothing was changed')
    throw error
  } finally {
    done.abort()
    tell.end()
    await backend.close()
  }
}
