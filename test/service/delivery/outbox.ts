import { afterEach, beforeEach } from 'vitest'
import type { Message } from '../../../src/service/call/message.ts'
import type { Adapter, Attempt, Outcome } from '../../../src/service/delivery/adapter.ts'
import { enqueue } from '../../../src/service/delivery/enqueue.ts'
import { createClock } from '../clock.ts'
import { startTestService, type TestService } from '../harness.ts'

// After `installHooks`, each test has a new service, whose e-mail and SMS provider answers what the test says.

export const secret = 'Your code is 493817'

export let clock: ReturnType<typeof createClock>
export let service: TestService
/** The attempts that reached the provider. */
export const attempts: { message: Message; id: string; attempt: number }[] = []
/** The next outcomes of the provider, in order. Without any, the message is sent. */
export const outcomes: (Outcome | Error | ((attempt: Attempt) => Promise<Outcome>))[] = []

export const adapter: Adapter = async (message, attempt) => {
  attempts.push({ message, id: attempt.id, attempt: attempt.attempt })
  const outcome = outcomes.shift() ?? { state: 'sent', provider_id: 'P1' }
  if (outcome instanceof Error) throw outcome
  return typeof outcome === 'function' ? outcome(attempt) : outcome
}

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    outcomes.length = 0
    attempts.length = 0
    service = await startTestService({ now: clock.now, adapters: { email: adapter, sms: adapter } })
  })
  afterEach(() => service.close())
}

/** Puts a message into the outbox, of this service unless `to` is another. */
export const accept = (
  more: Partial<Message> = {},
  { storage, keyring }: Pick<TestService, 'storage' | 'keyring'> = service,
): Promise<string> =>
  storage.write(
    (db) =>
      enqueue(
        { db, now: clock.iso(), keyring },
        { org_id: 1, channel: 'sms', kind: 'otp', to: '+12025550101', text: secret, ...more },
      ),
    { org: 0 },
  )
export const rowOf = (message_id: string, { storage }: Pick<TestService, 'storage'> = service) =>
  storage.read((db) =>
    db.selectFrom('outbox').where('message_id', '=', message_id).selectAll().executeTakeFirstOrThrow(),
  )
export const later = (ms: number): string => new Date(Date.parse(clock.iso()) + ms).toISOString()
export const retry = (more: object = {}): Outcome => ({ state: 'retry', error: 'not now', ...more })
