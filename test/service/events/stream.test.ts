import { expect, test } from 'vitest'
import { minute } from '../clock.ts'
import { acme, clock, installHooks, service } from '../acme.ts'
import { createMember, createTenant, dataOf, fence, refusal } from '../fixtures.ts'

installHooks()

type Page = { events: { id: string; type: string }[]; cursor: string }

const ask = (query: string, key = acme.key) => service.call('GET', `/svc/v1/events?${query}`, { key })
const list = async (query: string, key?: string): Promise<Page> => dataOf(await ask(query, key)) as Page
const types = ({ events }: Page): string[] => events.map(({ type }) => type)
const addFence = async (): Promise<void> => {
  dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
}
const all = 'from=2020-01-01T00:00:00Z'

test('events are in their order, and continue after any of them', async () => {
  await createMember(service, acme.id, 1)
  await addFence()
  const page = await list(all)
  expect(types(page).slice(-2)).toEqual(['member.created', 'policy.updated'])
  expect(page.cursor).toBe(page.events.at(-1)!.id)
  expect((await list(`after=${page.events.at(-2)!.id}`)).events).toEqual(page.events.slice(-1))
  expect(await list(`after=${page.cursor}`)).toEqual({ events: [], cursor: page.cursor })
})

test('without a place, they start with the next one', async () => {
  await addFence()
  const { events, cursor } = await list('')
  expect(events).toEqual([])
  await addFence()
  expect(types(await list(`after=${cursor}`))).toEqual(['policy.updated'])
})

test('a filter leaves out events, and the cursor passes them', async () => {
  await createMember(service, acme.id, 1)
  await addFence()
  await createMember(service, acme.id, 2)
  const page = await list(`${all}&type=policy`)
  expect(types(page)).toContain('policy.updated')
  expect(types(page)).not.toContain('member.created')
  expect((await list(`after=${page.cursor}`)).events).toEqual([])
  const first = await list(`${all}&type=member&limit=1`)
  expect(types(await list(`after=${first.cursor}&type=member`))).toEqual(['member.created'])
})

test('events from a time on', async () => {
  await addFence()
  clock.tick(minute)
  const now = clock.iso()
  await createMember(service, acme.id, 1)
  expect(types(await list(`from=${now}`))).toEqual(['member.created'])
  clock.tick(1)
  expect((await list(`from=${clock.iso()}`)).events).toEqual([])
})

test('a hundred requests of an organization wait at most: one more ends the oldest early', async () => {
  const { cursor } = await list('')
  const waiting = Array.from({ length: 101 }, () => list(`after=${cursor}&wait_s=30`))
  expect(await Promise.race(waiting)).toEqual({ events: [], cursor })
  await addFence()
  const answers = await Promise.all(waiting)
  expect(answers.filter(({ events }) => events.length === 1)).toHaveLength(100)
})

test('a request that waits is answered by the next commit', async () => {
  const { cursor } = await list('')
  const waiting = list(`after=${cursor}&wait_s=30&type=policy`)
  await createMember(service, acme.id, 1)
  await addFence()
  expect(types(await waiting)).toEqual(['policy.updated'])
})

test('a request that waits ends when the service stops', async () => {
  const { cursor } = await list('')
  const waiting = list(`after=${cursor}&wait_s=60`)
  service.service.signals.stop()
  expect(await waiting).toEqual({ events: [], cursor })
})

test('a place in another chain, or one that was rewritten, is refused', async () => {
  const foreign = await createTenant(service, 'foreign')
  await addFence()
  const { cursor } = await list('')
  expect(refusal(await ask(`after=${cursor}`, foreign.key))).toEqual([422, 'invalid_field', ['after']])
  const rewritten = `${cursor.slice(0, -8)}00000000`
  expect(refusal(await ask(`after=${rewritten}`))).toEqual([422, 'invalid_field', ['after']])
  expect(refusal(await ask(`after=${cursor}&${all}`))).toEqual([422, 'invalid_field', ['after']])
  expect(refusal(await ask('type=approvals'))).toEqual([422, 'invalid_field', ['type']])
  expect(refusal(await ask(`org_id=${acme.id}`, foreign.key))[0]).toBe(404)
})

test('an operator reads the events of the service itself', async () => {
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: 'ci', scopes: ['read'] } }))
  const { events } = await list(all, service.operatorKey)
  expect(events.at(-1)).toMatchObject({ type: 'key.created', data: { org_id: 0 } })
})
