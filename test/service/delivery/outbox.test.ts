import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/service/call/message.ts'
import type { Adapter, Attempt, Outcome } from '../../../src/service/delivery/adapter.ts'
import { enqueue } from '../../../src/service/delivery/enqueue.ts'
import { createOutbox, purge } from '../../../src/service/delivery/outbox.ts'
import { claim, record } from '../../../src/service/delivery/rows.ts'
import { createClock, minute, second } from '../clock.ts'
import { startTestService, type TestService } from '../harness.ts'

const hour = 60 * minute
const day = 24 * hour
const secret = 'Your code is 493817'

let clock: ReturnType<typeof createClock>
let service: TestService
const tried: { message: Message; id: string; attempt: number }[] = []
let answers: (Outcome | Error | ((attempt: Attempt) => Promise<Outcome>))[]
const adapter: Adapter = async (message, attempt) => {
  tried.push({ message, id: attempt.id, attempt: attempt.attempt })
  const answer = answers.shift() ?? { state: 'sent', provider_id: 'P1' }
  if (answer instanceof Error) throw answer
  return typeof answer === 'function' ? answer(attempt) : answer
}
beforeEach(async () => {
  clock = createClock()
  answers = []
  tried.length = 0
  service = await startTestService({ now: clock.now, adapters: { email: adapter, sms: adapter } })
})
afterEach(() => service.close())

const accept = (more: Partial<Message> = {}): Promise<string> =>
  service.storage.write(
    (db) =>
      enqueue(
        { db, now: clock.iso(), keyring: service.keyring },
        { org_id: 1, channel: 'sms', kind: 'otp', to: '+12025550101', text: secret, ...more },
      ),
    { org: 0 },
  )
const rowOf = (message_id: string) =>
  service.storage.read((db) =>
    db.selectFrom('outbox').where('message_id', '=', message_id).selectAll().executeTakeFirstOrThrow(),
  )
const later = (ms: number): string => new Date(Date.parse(clock.iso()) + ms).toISOString()
const retry = (more: object = {}): Outcome => ({ state: 'retry', error: 'not now', ...more })

describe('an accepted message', () => {
  test('is stored encrypted, sent complete, and erased once it is sent', async () => {
    const id = await accept({ subject: 'x', reply_to: 'a@b.example' })
    const before = await rowOf(id)
    expect(JSON.stringify(before)).not.toContain('493817')
    expect(JSON.stringify(before)).not.toContain('2025550101')
    await service.delivered()
    expect(tried).toMatchObject([
      { id, attempt: 1, message: { to: '+12025550101', text: secret, subject: 'x' } },
    ])
    expect(await rowOf(id)).toMatchObject({
      state: 'sent',
      provider_id: 'P1',
      attempts: 1,
      wrapped: null,
      error: null,
    })
  })

  test('is retried with the same id, later each time, and then sent', async () => {
    answers = [retry(), new Error('https://secret.example/token'), retry()]
    const id = await accept()
    for (const [pause, error] of [
      [2 * second, 'not now'],
      [4 * second, 'Error'],
      [8 * second, 'not now'],
    ] as const) {
      await service.delivered()
      expect(await rowOf(id)).toMatchObject({ state: 'queued', error, next_at: later(pause) })
      clock.tick(pause - 1)
      await service.delivered()
      clock.tick(1)
    }
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 4 })
    expect(tried.map((one) => [one.id, one.attempt])).toEqual([1, 2, 3, 4].map((n) => [id, n]))
    expect(JSON.stringify(service.log)).not.toMatch(/493817|2025550101|secret\.example/)
  })

  test('waits as long as the provider asks', async () => {
    answers = [retry({ after_ms: 90 * second })]
    const id = await accept()
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: later(90 * second) })
  })

  test('waits at most for a day, whatever the provider asks', async () => {
    answers = [retry({ after_ms: 1000 * day })]
    const id = await accept()
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: later(day) })
  })

  test('is failed and erased if the provider refuses it', async () => {
    answers = [{ state: 'failed', error: 'no such number\u202e' }]
    const id = await accept()
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({
      state: 'failed',
      error: String.raw`no such number\u{202e}`,
      wrapped: null,
    })
    clock.tick(day)
    await service.delivered()
    expect(tried).toHaveLength(1)
  })

  test('is dead after fifteen attempts, and its text stays for a day', async () => {
    answers = Array.from({ length: 20 }, () => retry())
    const id = await accept()
    for (let i = 0; i < 20; i++) {
      await service.delivered()
      clock.tick(hour)
    }
    expect(tried).toHaveLength(15)
    expect(await rowOf(id)).toMatchObject({ state: 'dead', attempts: 15, wrapped: expect.any(String) })
    clock.tick(day)
    await purge(service.storage)
    expect(await rowOf(id)).toMatchObject({ state: 'dead', wrapped: null })
  })

  test('is dead and erased if it expires before it was sent', async () => {
    answers = [retry()]
    const id = await accept({ expires_at: later(second) })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: later(second) })
    clock.tick(second)
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'dead', wrapped: null })
    expect(tried).toHaveLength(1)
  })

  test('is dead immediately if the provider asks to wait until it has expired', async () => {
    answers = [retry({ after_ms: minute })]
    const id = await accept({ expires_at: later(minute) })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'dead', wrapped: null, error: 'not now' })
  })

  test('is attempted once if it only tests a channel', async () => {
    answers = [retry()]
    const id = await accept({ kind: 'test' })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'dead', attempts: 1 })
  })

  test('is failed, and reveals nothing, if another master key wrapped it', async () => {
    const id = await accept()
    const other = await accept()
    const { wrapped } = await rowOf(other)
    await service.storage.write(
      (db) => db.updateTable('outbox').set({ wrapped }).where('message_id', '=', id).execute(),
      { org: 0 },
    )
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({
      state: 'failed',
      error: 'this master key cannot decrypt it',
    })
  })
})

const never = (): Promise<Outcome> => new Promise(() => undefined)

test('a provider gets at most eight messages at a time', async () => {
  const waiting: (() => void)[] = []
  let most = 0
  const take = (): Promise<Outcome> =>
    new Promise((resolve) => {
      most = Math.max(
        most,
        waiting.push(() => resolve({ state: 'sent' })),
      )
      // Answers after the last message has arrived.
      setImmediate(() => setImmediate(() => waiting.shift()?.()))
    })
  answers = Array.from({ length: 30 }, () => take)
  for (let i = 0; i < 30; i++) await accept()
  await service.delivered()
  expect(tried).toHaveLength(30)
  expect(most).toBe(8)
})

describe('a provider that hangs', () => {
  test('delays no other channel, and its own channel only for one attempt', async () => {
    const hanging = await startTestService({
      now: clock.now,
      adapters: { sms: never, email: adapter },
      timeoutMs: 20,
    })
    const put = (channel: 'sms' | 'email') =>
      hanging.storage.write(
        (db) =>
          enqueue(
            { db, now: clock.iso(), keyring: hanging.keyring },
            { org_id: 1, channel, kind: 'notice', to: 'ada@example.com', text: 'x' },
          ),
        { org: 0 },
      )
    for (let i = 0; i < 20; i++) await put('sms')
    await put('email')
    await hanging.delivered()
    const rows = await hanging.storage.read((db) => db.selectFrom('outbox').selectAll().execute())
    expect(rows.filter(({ channel }) => channel === 'email')).toMatchObject([{ state: 'sent' }])
    for (const row of rows.filter(({ channel }) => channel === 'sms'))
      expect(row).toMatchObject({ state: 'queued', attempts: 1, error: 'no answer within 0.02 s' })
    await hanging.close()
  })

  test('and answers late that the message was sent is trusted', async () => {
    let answer: ((outcome: Outcome) => void) | undefined
    const slow = await startTestService({
      now: clock.now,
      adapters: { sms: () => new Promise<Outcome>((resolve) => (answer = resolve)) },
      timeoutMs: 20,
    })
    const message_id = await slow.storage.write(
      (db) =>
        enqueue(
          { db, now: clock.iso(), keyring: slow.keyring },
          { org_id: 1, channel: 'sms', kind: 'notice', to: '+12025550101', text: 'x' },
        ),
      { org: 0 },
    )
    await slow.delivered()
    answer!({ state: 'sent', provider_id: 'late' })
    await Promise.resolve()
    await slow.delivered()
    const row = await slow.storage.read((db) =>
      db.selectFrom('outbox').where('message_id', '=', message_id).selectAll().executeTakeFirst(),
    )
    expect(row).toMatchObject({ state: 'sent', provider_id: 'late', wrapped: null })
    await slow.close()
  })
})

const taken = () =>
  service.storage.write(
    (db) => claim(db, { channel: 'sms', now: clock.iso(), until: later(minute), limit: 3 }),
    { org: 0 },
  )

describe('a message is claimed', () => {
  test('by one process only, the oldest first', async () => {
    const ids: string[] = []
    for (let i = 0; i < 10; i++) {
      ids.push(await accept())
      clock.tick(1)
    }
    const all = (await Promise.all(Array.from({ length: 6 }, () => taken()))).flat()
    expect(all.map((row) => row.message_id).toSorted()).toEqual(ids.toSorted())
    expect(new Set(all.slice(0, 3).map((row) => row.message_id))).toEqual(new Set(ids.slice(0, 3)))
  })

  test('again only after the process that claimed it has died', async () => {
    const id = await accept()
    await taken()
    clock.tick(minute - 1)
    expect(await taken()).toEqual([])
    clock.tick(1)
    expect(await taken()).toMatchObject([{ message_id: id, attempts: 2 }])
  })

  test('and lost: a late process can record only that it was sent', async () => {
    const id = await accept()
    const [first] = await taken()
    clock.tick(minute)
    const [second] = await taken()
    const say = (row: typeof first, verdict: Parameters<typeof record>[2]) =>
      service.storage.write((db) => record(db, row!, verdict, clock.iso()), { org: 0 })
    await say(first, { state: 'failed', error: 'late', wrapped: null })
    expect(await rowOf(id)).toMatchObject({ state: 'sending', error: null })
    await say(second, { state: 'queued', error: 'not now', next_at: later(minute) })
    await say(first, { state: 'sent', provider_id: 'P9', wrapped: null, error: null })
    expect(await rowOf(id)).toMatchObject({ state: 'sent', provider_id: 'P9', wrapped: null })
    await say(second, { state: 'queued', error: 'not now', next_at: later(0) })
    expect(await rowOf(id)).toMatchObject({ state: 'sent' })
  })

  test('immediately after a start if no other process sends, and its attempts count', async () => {
    const id = await accept()
    await taken()
    await service.outbox.start({ alone: true })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2 })
  })

  test('but not sent a sixteenth time if the process died at each attempt', async () => {
    const id = await accept()
    for (let i = 0; i < 15; i++) {
      await taken()
      clock.tick(minute)
    }
    await service.delivered()
    expect(tried).toEqual([])
    expect(await rowOf(id)).toMatchObject({
      state: 'dead',
      error: 'the service stopped before the provider answered',
    })
  })
})

describe('a store that cannot be written', () => {
  test.each([
    ['written down with the next look', true],
    ['taken once more before that', false],
  ])('does not cause a message to be sent twice: %s', async (_, looks) => {
    const { storage, keyring } = service
    let broken = false
    const flaky = {
      ...storage,
      write: ((work, options) =>
        broken
          ? Promise.reject(new Error('disk full'))
          : storage.write(work, options)) as typeof storage.write,
    }
    answers = [
      async () => {
        broken = true
        return { state: 'sent', provider_id: 'P1' }
      },
    ]
    const outbox = createOutbox({ storage: flaky, keyring, log: () => undefined, adapters: { sms: adapter } })
    const id = await accept()
    await outbox.idle()
    expect(await rowOf(id)).toMatchObject({ state: 'sending' })
    broken = false
    clock.tick(hour)
    if (looks) outbox.wake()
    await outbox.idle()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', provider_id: 'P1' })
    expect(tried).toHaveLength(1)
    await outbox.stop()
  })
})

describe('stopping', () => {
  test('waits for attempts that are under way', async () => {
    let answer: ((outcome: Outcome) => void) | undefined
    const begun = new Promise<void>((resolve) => {
      answers = [
        () => {
          resolve()
          return new Promise((settle) => (answer = settle))
        },
      ]
    })
    const id = await accept()
    service.outbox.wake()
    await begun
    const stopped = service.outbox.stop()
    answer!({ state: 'sent', provider_id: 'P2' })
    await stopped
    expect(await rowOf(id)).toMatchObject({ state: 'sent', provider_id: 'P2' })
  })

  test('queues what does not end in time, due immediately, and claims nothing more', async () => {
    const { storage, keyring } = service
    const begun = new Promise<void>((resolve) => {
      answers = [
        () => {
          resolve()
          return new Promise(() => undefined)
        },
      ]
    })
    const options = { storage, keyring, log: () => undefined, adapters: { sms: adapter }, graceMs: 1 }
    const outbox = createOutbox(options)
    const id = await accept()
    outbox.wake()
    await begun
    await outbox.stop()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: clock.iso(), attempts: 1 })
    outbox.wake()
    expect(tried).toHaveLength(1)
    const next = createOutbox({ ...options, graceMs: 1000 })
    await next.idle()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2 })
    await next.stop()
  })
})

test('deletes ended messages after thirty days, and no others', async () => {
  const sent = await accept()
  await service.delivered()
  const waiting = await accept()
  clock.tick(30 * day)
  await purge(service.storage)
  expect(await rowOf(sent)).toMatchObject({ state: 'sent' })
  clock.tick(1)
  await purge(service.storage)
  const rows = await service.storage.read((db) => db.selectFrom('outbox').select('message_id').execute())
  expect(rows).toEqual([{ message_id: waiting }])
})
