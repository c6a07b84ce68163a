import { describe, expect, test } from 'vitest'
import type { Message } from '../../../src/service/call/message.ts'
import type { Outcome } from '../../../src/service/delivery/adapter.ts'
import { createOutbox } from '../../../src/service/delivery/outbox.ts'
import { startTestService } from '../harness.ts'
import { accept, adapter, attempts, clock, installHooks, outcomes, rowOf, service } from './outbox.ts'

installHooks()

const never = (): Promise<Outcome> => new Promise(() => undefined)

describe('a provider that hangs', () => {
  test('delays no other channel, and its own channel only for one attempt', async () => {
    const hanging = await startTestService({
      now: clock.now,
      adapters: { sms: never, email: adapter },
      timeoutMs: 20,
    })
    for (let i = 0; i < 20; i++) await accept({}, hanging)
    await accept({ channel: 'email', to: 'ada@example.com' }, hanging)
    await hanging.delivered()
    const rows = await hanging.storage.read((db) => db.selectFrom('outbox').selectAll().execute())
    expect(rows.filter(({ channel }) => channel === 'email')).toMatchObject([{ state: 'sent' }])
    for (const row of rows.filter(({ channel }) => channel === 'sms'))
      expect(row).toMatchObject({ state: 'queued', attempts: 1, error: 'no answer within 0.02 s' })
    await hanging.close()
  })

  test('at the phones of one organization delays no push of another', async () => {
    const hanging: (() => void)[] = []
    let arrive!: (count: number) => void
    const arrived = new Promise<number>((resolve) => (arrive = resolve))
    const push = ({ org_id }: Message): Promise<Outcome> =>
      new Promise((resolve) => {
        const send = (): void => resolve({ state: 'sent' })
        if (org_id === 1) return void hanging.push(send)
        arrive(hanging.length)
        send()
      })
    const pushes = await startTestService({ now: clock.now, adapters: { push } })
    for (let device = 1; device <= 100; device++)
      await accept({ channel: 'push', to: String(device) }, pushes)
    await accept({ channel: 'push', to: '101', org_id: 2 }, pushes)
    pushes.outbox.wake()
    expect(await arrived).toBeLessThanOrEqual(32)
    for (const send of hanging) send()
    await pushes.close()
  })

  test('and answers late that the message was sent is trusted', async () => {
    let answer: ((outcome: Outcome) => void) | undefined
    const slow = await startTestService({
      now: clock.now,
      adapters: { sms: () => new Promise<Outcome>((resolve) => (answer = resolve)) },
      timeoutMs: 20,
    })
    const id = await accept({}, slow)
    await slow.delivered()
    answer!({ state: 'sent', provider_id: 'late' })
    await Promise.resolve()
    await slow.delivered()
    expect(await rowOf(id, slow)).toMatchObject({ state: 'sent', provider_id: 'late', wrapped: null })
    await slow.close()
  })
})

describe('stopping', () => {
  test('waits for attempts that are under way', async () => {
    let answer: ((outcome: Outcome) => void) | undefined
    const begun = new Promise<void>((resolve) => {
      outcomes.push(() => {
        resolve()
        return new Promise((settle) => (answer = settle))
      })
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
      outcomes.push(() => {
        resolve()
        return new Promise(() => undefined)
      })
    })
    const options = { storage, keyring, log: () => undefined, adapters: { sms: adapter }, graceMs: 1 }
    const outbox = createOutbox(options)
    const id = await accept()
    outbox.wake()
    await begun
    await outbox.stop()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: clock.iso(), attempts: 1 })
    outbox.wake()
    expect(attempts).toHaveLength(1)
    const next = createOutbox({ ...options, graceMs: 1000 })
    await next.idle()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2 })
    await next.stop()
  })
})
