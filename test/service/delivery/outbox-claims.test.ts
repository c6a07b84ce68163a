import { describe, expect, test } from 'vitest'
import { createOutbox } from '../../../src/service/delivery/outbox.ts'
import { claim, record } from '../../../src/service/delivery/rows.ts'
import { hour, minute } from '../clock.ts'
import { accept, adapter, attempts, clock, installHooks, later, outcomes, rowOf, service } from './outbox.ts'

installHooks()

const claimNext = () =>
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
    const all = (await Promise.all(Array.from({ length: 6 }, () => claimNext()))).flat()
    expect(all.map((row) => row.message_id).toSorted()).toEqual(ids.toSorted())
    expect(new Set(all.slice(0, 3).map((row) => row.message_id))).toEqual(new Set(ids.slice(0, 3)))
  })

  test('again only after the process that claimed it has died', async () => {
    const id = await accept()
    await claimNext()
    clock.tick(minute - 1)
    expect(await claimNext()).toEqual([])
    clock.tick(1)
    expect(await claimNext()).toMatchObject([{ message_id: id, attempts: 2 }])
  })

  test('and lost: a late process can record only that it was sent', async () => {
    const id = await accept()
    const [first] = await claimNext()
    clock.tick(minute)
    const [second] = await claimNext()
    const recordAs = (row: typeof first, verdict: Parameters<typeof record>[2]) =>
      service.storage.write((db) => record(db, row!, verdict, clock.iso()), { org: 0 })
    await recordAs(first, { state: 'failed', error: 'late', wrapped: null })
    expect(await rowOf(id)).toMatchObject({ state: 'sending', error: null })
    await recordAs(second, { state: 'queued', error: 'not now', next_at: later(minute) })
    await recordAs(first, { state: 'sent', provider_id: 'P9', wrapped: null, error: null })
    expect(await rowOf(id)).toMatchObject({ state: 'sent', provider_id: 'P9', wrapped: null })
    await recordAs(second, { state: 'queued', error: 'not now', next_at: later(0) })
    expect(await rowOf(id)).toMatchObject({ state: 'sent' })
  })

  test('immediately after a start if no other process sends, and its attempts count', async () => {
    const id = await accept()
    await claimNext()
    await service.outbox.start({ alone: true })
    await service.delivered()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', attempts: 2 })
  })

  test('but not sent a sixteenth time if the process died at each attempt', async () => {
    const id = await accept()
    for (let i = 0; i < 15; i++) {
      await claimNext()
      clock.tick(minute)
    }
    await service.delivered()
    expect(attempts).toEqual([])
    expect(await rowOf(id)).toMatchObject({
      state: 'dead',
      error: 'the service stopped before the provider answered',
    })
  })
})

describe('a store that cannot be written', () => {
  test.each([
    ['recorded with the next look', true],
    ['claimed again before that', false],
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
    outcomes.push(async () => {
      broken = true
      return { state: 'sent', provider_id: 'P1' }
    })
    const outbox = createOutbox({ storage: flaky, keyring, log: () => undefined, adapters: { sms: adapter } })
    const id = await accept()
    await outbox.idle()
    expect(await rowOf(id)).toMatchObject({ state: 'sending' })
    broken = false
    clock.tick(hour)
    if (looks) outbox.wake()
    await outbox.idle()
    expect(await rowOf(id)).toMatchObject({ state: 'sent', provider_id: 'P1' })
    expect(attempts).toHaveLength(1)
    await outbox.stop()
  })
})
