import { Refusal } from '../../core/refusal.ts'
import { type Call, type Handler, type Outside, prepare } from './call.ts'
import { type Asked, type Attempt, createAttempt } from './create-call.ts'
import { namedOrganization } from './named-organization.ts'
import type { Service } from './service.ts'

export type { Asked } from './create-call.ts'

const outsideOf = (service: Service, { caller, signal, ip }: Asked): Outside => ({
  service,
  caller,
  signal,
  ip,
})

/** Runs a handler that changes nothing. */
export const runRead = async <I, D>(
  service: Service,
  asked: Asked,
  handler: Handler<I, D>,
  input: I,
): Promise<D | Refusal> => {
  const { storage } = service
  const work = await prepare(handler, input, outsideOf(service, asked))
  const now = storage.now()
  return storage.read((db) => work(createAttempt(service, asked, db, now).call))
}

/** What a handler answered in one attempt, and what it left behind. */
export type Worked<D> = Omit<Attempt, 'call'> & { data: D | Refusal }

/**
 * Runs a handler in one transaction; `within` may look before it and keep its answer after it. Who waits is woken, and
 * phones ring, after the commit only. `org` is found by the operation where it is not given.
 */
export const runWrite = async <I extends object, D, R>(
  service: Service,
  asked: Asked & { org?: number },
  handler: Handler<I, D>,
  input: I,
  within: (call: Call, work: () => Promise<Worked<D>>) => Promise<R>,
): Promise<R> => {
  const { storage } = service
  const work = await prepare(handler, input, outsideOf(service, asked))
  const org = asked.org ?? (await namedOrganization(storage, asked, input))
  const { result, afterCommit } = await storage.write(
    async (db) => {
      const { call, ...left } = createAttempt(service, asked, db, storage.now())
      const result = await within(call, async () => {
        const data = await work(call)
        // The transaction goes back: nothing is changed without a trace.
        if (left.changed.size === 0 && !(data instanceof Refusal))
          throw new Error(`${asked.action} left no audit row`)
        return { data, ...left }
      })
      return { result, afterCommit: left.afterCommit }
    },
    { org },
  )
  for (const effect of afterCommit) effect()
  return result
}
