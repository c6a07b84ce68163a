import { expect, test } from 'vitest'
import { readAuditHead } from '../../../src/receipt/chain.ts'
import { watchAuditHeads } from '../../../src/service/events/audit-heads.ts'
import { hour, minute } from '../clock.ts'
import { auditOf, chainOf, createMember, dataOf } from '../fixtures.ts'
import { acme, clock, createWebhook, installHooks, receiver, service } from './acme-with-receiver.ts'

installHooks()

/** What a service does about heads when it starts, and each minute. */
const look = async (): Promise<void> => {
  const warnings: unknown[] = []
  await watchAuditHeads(service.service, (record) => warnings.push(record))()
  expect(warnings).toEqual([])
}

/** Subjects of the rows that state a head. */
const statedIn = async (org: number): Promise<string[]> =>
  (await auditOf(service, org)).flatMap(([action, subject]) => (action === 'signAuditHead' ? [subject] : []))

test('the heads of all chains are stated when an hour has passed since the first start', async () => {
  await look()
  clock.tick(hour - minute)
  await look()
  expect([await statedIn(0), await statedIn(acme.id)]).toEqual([[], []])
  const last = {
    service: (await chainOf(service, 0)).at(-1)!,
    acme: (await chainOf(service, acme.id)).at(-1)!,
  }
  clock.tick(minute)
  await look()
  expect(await statedIn(0)).toEqual([`audit:${last.service.seq}`])
  expect(await statedIn(acme.id)).toEqual([`audit:${last.acme.seq}`])
})

test('a chain gets a row each hour in which it has grown', async () => {
  await look()
  clock.tick(hour)
  await look()
  const [first] = await statedIn(acme.id)
  clock.tick(hour)
  await look()
  expect(await statedIn(acme.id)).toEqual([first])
  await createMember(service, acme.id, 1)
  clock.tick(hour - 1)
  await look()
  expect(await statedIn(acme.id)).toEqual([first])
  clock.tick(1)
  await look()
  const grown = (await chainOf(service, acme.id)).find(({ action }) => action === 'createUser')!
  expect(await statedIn(acme.id)).toEqual([first, `audit:${grown.seq}`])
})

test('of two that look at the same time, one states the heads', async () => {
  await look()
  clock.tick(hour)
  await Promise.all([look(), look()])
  expect((await statedIn(acme.id)).length).toBe(1)
})

test('the event contains the signed head of the rows before it, for a webhook and in the list', async () => {
  await createWebhook({ types: ['audit'] })
  const { org_id, seq, hash } = (await chainOf(service, acme.id)).at(-1)!
  await look()
  clock.tick(hour)
  await look()
  await receiver.until(1)
  await service.delivered()
  expect(receiver.types()).toEqual(['audit.head'])
  const sent = JSON.parse(receiver.received[0]!.body)
  const { body: jwks } = await service.call('GET', '/.well-known/jwks.json', { key: null })
  expect(await readAuditHead(sent.data.head.jws, jwks)).toEqual({ org_id, seq, hash })
  const query = `org_id=${acme.id}&type=audit&from=2020-01-01T00:00:00Z`
  const { events } = dataOf(await service.call('GET', `/svc/v1/events?${query}`))
  expect(events.map(({ id }: { id: string }) => id)).toEqual([sent.id])
  expect(await readAuditHead(events[0].data.head.jws, jwks)).toEqual({ org_id, seq, hash })
})
