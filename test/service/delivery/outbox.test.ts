import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/service/delivery/adapter.ts'
import { createOutbox, purge } from '../../../src/service/delivery/outbox.ts'
import { day, hour, minute, second } from '../clock.ts'
import {
  accept,
  adapter,
  attempts,
  clock,
  installHooks,
  later,
  outcomes,
  retry,
  rowOf,
  secret,
  service,
} from './outbox.ts'

installHooks()

describe('an accepted message', () => {
  test('is stored encrypted, sent complete, and erased once it is sent', async () => {
    const id = await accept({ subject: 'x', reply_to: 'a@b.example' })
    const before = await rowOf(id)
    expect(JSON.stringify(before)).not.toContain('493817')
    expect(JSON.stringify(before)).not.toContain('2025550101')
    await service.delivered()
    expect(attempts).toMatchObject([
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

  test('leaves through no other channel, which another program wrote', async () => {
    const id = await accept()
    await service.runSql("UPDATE outbox SET channel = 'email'")
    await service.delivered()
    expect(attempts).toEqual([])
    expect(await rowOf(id)).toMatchObject({ state: 'failed' })
  })

  test('is retried with the same id, later each time, and then sent', async () => {
    outcomes.push(retry(), new Error('https://secret.example/token'), retry())
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
    expect(attempts.map((one) => [one.id, one.attempt])).toEqual([1, 2, 3, 4].map((n) => [id, n]))
    expect(JSON.stringify(service.log)).not.toMatch(/493817|2025550101|secret\.example/)
  })

  test('waits as long as the provider asks', async () => {
    outcomes.push(retry({ after_ms: 90 * second }))
    const id = await accept()
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: later(90 * second) })
  })

  test('waits at most for a day, whatever the provider asks', async () => {
    outcomes.push(retry({ after_ms: 1000 * day }))
    const id = await accept()
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: later(day) })
  })

  test('is failed and erased if the provider refuses it', async () => {
    outcomes.push({ state: 'failed', error: 'no such number\u202e' })
    const id = await accept()
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({
      state: 'failed',
      error: String.raw`no such number\u{202e}`,
      wrapped: null,
    })
    clock.tick(day)
    await service.delivered()
    expect(attempts).toHaveLength(1)
  })

  test('is dead after fifteen attempts, and its text stays for a day', async () => {
    outcomes.push(...Array.from({ length: 20 }, () => retry()))
    const id = await accept()
    for (let i = 0; i < 20; i++) {
      await service.delivered()
      clock.tick(hour)
    }
    expect(attempts).toHaveLength(15)
    expect(await rowOf(id)).toMatchObject({ state: 'dead', attempts: 15, wrapped: expect.any(String) })
    clock.tick(day)
    await purge(service.storage)
    expect(await rowOf(id)).toMatchObject({ state: 'dead', wrapped: null })
  })

  test('is dead and erased if it expires before it was sent', async () => {
    outcomes.push(retry())
    const id = await accept({ expires_at: later(second) })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'queued', next_at: later(second) })
    clock.tick(second)
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'dead', wrapped: null })
    expect(attempts).toHaveLength(1)
  })

  test('is dead immediately if the provider asks to wait until it has expired', async () => {
    outcomes.push(retry({ after_ms: minute }))
    const id = await accept({ expires_at: later(minute) })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'dead', wrapped: null, error: 'not now' })
  })

  test('is attempted once if it only tests a channel', async () => {
    outcomes.push(retry())
    const id = await accept({ kind: 'test' })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'dead', attempts: 1 })
  })

  test('is not counted as lost if it only tests a channel', async () => {
    const { storage, keyring } = service
    const counted: string[] = []
    const outbox = createOutbox({
      storage,
      keyring,
      log: () => undefined,
      adapters: { sms: adapter },
      attempted: (channel, state) => void counted.push(`${channel} ${state}`),
    })
    const refused: Outcome = { state: 'failed', error: 'no' }
    outcomes.push(refused, refused)
    await accept({ kind: 'test' })
    await outbox.idle()
    expect([attempts.length, counted]).toEqual([1, []])
    await accept()
    await outbox.idle()
    expect(counted).toEqual(['sms failed'])
    await outbox.stop()
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
  outcomes.push(...Array.from({ length: 30 }, () => take))
  for (let i = 0; i < 30; i++) await accept()
  await service.delivered()
  expect(attempts).toHaveLength(30)
  expect(most).toBe(8)
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
