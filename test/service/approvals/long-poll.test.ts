import { describe, expect, test } from 'vitest'
import { createSignals } from '../../../src/service/call/signals/signals.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { minute } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { newRequest, withdraw } from './requested.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

installHooks()

const wait = (id: string, more: { key?: string; signal?: AbortSignal } = {}) =>
  service.call('GET', `/svc/v1/approvals/${id}?wait_s=20`, { key: acme.key, ...more })

const events = (key: string) => service.call('GET', `/svc/v1/events?org_id=${acme.id}&wait_s=20`, { key })
const createReader = async (name: string): Promise<{ id: number; key: string }> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['read'] } }))

describe('waiting', () => {
  test('ends with the decision for every waiting caller, without reading the store', async () => {
    service.service.signals = createSignals(service.storage)
    const id = await newRequest()
    const waiting = [wait(id), wait(id), wait(id)]
    await decide(service, id, ada.key)
    for (const answer of await Promise.all(waiting)) expect(dataOf(answer).status).toBe('approved')
  })

  test('shows the number only to the requester, whoever else waits for it', async () => {
    const { key } = await createReader('reader')
    const id = await newRequest({ number: true })
    const waiting = [acme.key, key, acme.key].map((one) => wait(id, { key: one }))
    const { number } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`, { key: acme.key }))
    await decide(service, id, ada.key, { decision: 'approve', number })
    const answers = (await Promise.all(waiting)).map(dataOf)
    expect(number).toMatch(/^\d\d$/)
    expect(answers.map(({ status }) => status)).toEqual(['approved', 'approved', 'approved'])
    expect(answers.map((one) => one.number)).toEqual([number, null, number])
  })

  // Only one process writes to the embedded store, so nothing ends without a wake.
  test.runIf(onPostgres())('ends with a decision on another node, without a wake', async () => {
    const id = await newRequest()
    const waiting = wait(id)
    await service.storage.write(
      (db) =>
        db
          .updateTable('approvals')
          .set({ status: 'denied', ended_at: clock.iso() })
          .where('request_id', '=', id)
          .execute(),
      { org: 0 },
    )
    expect(dataOf(await waiting).status).toBe('denied')
  })

  test('tells nothing to a key that was revoked meanwhile', async () => {
    const [lost, kept] = [await createReader('lost'), await createReader('kept')]
    const id = await newRequest()
    const waiting = [lost, kept].flatMap(({ key }) => [wait(id, { key }), events(key)])
    dataOf(await service.call('DELETE', `/svc/v1/keys/${lost.id}`))
    await decide(service, id, ada.key)
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses).toEqual([401, 401, 200, 200])
  })

  test('ends with a cancel and with the expiry', async () => {
    const [first, other] = [await newRequest(), await newRequest()]
    const waiting = [wait(first), wait(other)]
    await withdraw(first)
    expect(dataOf((await Promise.race(waiting))!).status).toBe('expired')
    clock.tick(5 * minute)
    expect(dataOf((await waiting[1])!).detail).toBe('no decision in time')
  })

  test('returns immediately if it is decided, and otherwise after the requested time', async () => {
    const id = await newRequest()
    expect(dataOf(await service.call('GET', `/svc/v1/approvals/${id}?wait_s=1`)).status).toBe('pending')
    await decide(service, id, ada.key)
    expect(dataOf(await wait(id)).status).toBe('approved')
  })

  test('ends when the client disconnects, and when the service stops', async () => {
    const id = await newRequest()
    const client = new AbortController()
    const waiting = [wait(id, { signal: client.signal }), wait(id)]
    client.abort()
    expect(dataOf((await waiting[0])!).status).toBe('pending')
    service.service.signals.stop()
    expect(dataOf((await waiting[1])!).status).toBe('pending')
  })

  test.each(['0', '61', 'x'])('for %s seconds is refused', async (seconds) => {
    const answer = await service.call('GET', `/svc/v1/approvals/${await newRequest()}?wait_s=${seconds}`)
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['wait_s']])
  })
})
