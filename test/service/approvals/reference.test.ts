import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide } from '../approver.ts'
import { day } from '../clock.ts'
import { auditOf, contentsOf, dataOf, fence, refusal } from '../fixtures.ts'

installHooks()

const request = async (key = acme.key): Promise<string> =>
  dataOf(await ask(service, ada, {}, key)).request_id as string
const approved = async (key?: string): Promise<string> => {
  const id = await request(key)
  dataOf(await decide(service, id, ada.key, { decision: 'approve' }))
  return id
}
const create = (id: string, { key = acme.key, repeat = '' } = {}) =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
    key,
    body: fence,
    headers: { 'x-svc-approval': id, ...(repeat && { 'idempotency-key': repeat }) },
  })
const lastChanges = async () => (await auditOf(service, acme.id)).at(-1)![2]

describe('a write that names an approval', () => {
  test('records it in the audit if it was approved for this key', async () => {
    const id = await approved()
    expect((await create(id)).status).toBe(200)
    expect(await lastChanges()).toEqual([...Object.keys(fence), `approval:${id}`])
  })
  test('can name one that another key of its organization requested', async () => {
    const body = { name: 'gateway', scopes: ['ask'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { key: acme.key, body }))
    const id = await approved(key)
    expect((await create(id)).status).toBe(200)
    expect(await lastChanges()).toContain(`approval:${id}`)
  })
  test('gets the cached response when it is repeated', async () => {
    const id = await approved()
    const first = await create(id, { repeat: 'one' })
    expect((await create(id, { repeat: 'one' })).body).toEqual(first.body)
  })

  const unknown: [string, () => Promise<string>, string?][] = [
    ['that nobody asked for', async () => 'apr_nothing'],
    ['that is empty', async () => ''],
    ['that is not decided', () => request()],
    [
      'that was denied',
      async () => {
        const id = await request()
        await decide(service, id, ada.key, { decision: 'deny' })
        return id
      },
    ],
    [
      'of another day',
      async () => {
        const id = await approved()
        clock.tick(day + 1)
        // Whoever names it too late leaves that in its row, once.
        await create(id)
        return id
      },
    ],
    ['of a key of another organization', () => approved(service.operatorKey)],
  ]
  for (const [what, make] of unknown)
    test(`is refused with one ${what}, and nothing is written`, async () => {
      const id = await make()
      const before = await contentsOf(service)
      expect(refusal(await create(id)).slice(0, 2)).toEqual([422, 'unknown_approval'])
      expect(await contentsOf(service)).toEqual(before)
    })
})
