import { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import { type Call, type Handler, type Outside, prepare, type Requirement } from './call.ts'
import type { Caller } from './caller.ts'
import { createCall } from './create-call.ts'
import type { Service } from './service.ts'

/** One call of one operation. */
export type OperationCall = {
  /** The operation, as the audit names it. */
  action: string
  caller: Caller
  requestId: string
  /** Names of the fields that the caller gave. */
  given: string[]
  /** As `createCall` takes it. */
  approval?: string
  pager?: Paging
  signal?: AbortSignal
  ip?: string
  header?: Call['header']
}

type Paging = Pick<Call, 'page' | 'paged' | 'pagedByTime'>

const noHeader = (): void => undefined
const onePage: Paging = { page: { after: 0 }, paged: (rows) => rows, pagedByTime: (rows) => rows }

const outsideOf = (service: Service, asked: OperationCall): Outside => ({
  service,
  caller: asked.caller,
  get signal() {
    return asked.signal
  },
  get ip() {
    return asked.ip
  },
})

const callOf = (
  service: Service,
  asked: OperationCall,
  { caller, db, now, later }: { caller: Caller; db: Db; now: string; later: (() => void)[] },
) => {
  const { publicUrl, dev, deviceProof, keyring, waiter, ring, pushKey, channels, deliver } = service
  const { page, paged, pagedByTime } = asked.pager ?? onePage
  const wakeOutbox = (): void => {
    if (!later.includes(deliver)) later.push(deliver)
  }
  return createCall({
    db,
    caller,
    now,
    requestId: asked.requestId,
    publicUrl,
    dev,
    deviceProof,
    keyring,
    pushKey,
    page,
    paged,
    pagedByTime,
    wake: (request) => void later.push(() => waiter.wake(request)),
    claim: (orgId, quota, more) => service.claim({ db, now }, orgId, quota, more),
    ring: (prompt) => void later.push(() => ring(prompt)),
    canSend: (channel) => channels.has(channel),
    deliver: wakeOutbox,
    send: async (message) => {
      const message_id = await service.accept({ db, now }, message)
      wakeOutbox()
      return message_id
    },
    header: asked.header ?? noHeader,
    action: asked.action,
    given: asked.given,
    approval: asked.approval,
  })
}

/** Runs a handler that changes nothing. */
export const runRead = async <I, D>(
  service: Service,
  asked: OperationCall,
  handler: Handler<I, D>,
  input: I,
): Promise<D | Refusal> => {
  const outside = outsideOf(service, asked)
  const work = await prepare(handler, input, outside)
  const now = service.storage.now()
  return service.storage.read((db) =>
    work(callOf(service, asked, { caller: outside.caller, db, now, later: [] }).call),
  )
}

/** What a handler did: its answer, the organizations that it changed, and the approvals that it demanded. */
export type Worked<D> = {
  data: D | Refusal
  changed: ReadonlySet<number>
  demanded: readonly Requirement[]
}

/**
 * Runs a handler in one transaction; `within` may look before it and keep its answer after it. Who waits is woken, and
 * phones ring, after the commit only.
 */
export const runWrite = async <I, D, R>(
  service: Service,
  asked: OperationCall,
  handler: Handler<I, D>,
  input: I,
  within: (call: Call, work: () => Promise<Worked<D>>) => Promise<R>,
): Promise<R> => {
  const outside = outsideOf(service, asked)
  const work = await prepare(handler, input, outside)
  const later: (() => void)[] = []
  const result = await service.storage.write((db) => {
    const now = service.storage.now()
    const { call, changed, demanded } = callOf(service, asked, { caller: outside.caller, db, now, later })
    return within(call, async () => {
      const data = await work(call)
      // The transaction goes back: nothing is changed without a trace.
      if (changed.size === 0 && !(data instanceof Refusal))
        throw new Error(`${asked.action} left no audit row`)
      return { data, changed, demanded }
    })
  })
  for (const one of later) one()
  return result
}
