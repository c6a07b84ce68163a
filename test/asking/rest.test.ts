import { describe, expect, test } from 'vitest'
import { createRestBackend, hasApprovals } from '../../src/asking/rest.ts'
import { record } from '../cli/approve/records.ts'
import { failure, withHosted } from '../client/hosted.ts'
import { cut, json, page } from '../fake-hosted.ts'

const start = async () => {
  const { client, service } = await withHosted()
  const surroundings = {
    now: () => Date.now(),
    getJson: async () => ({ keys: [] }),
    organization: async () => undefined,
    flags: '',
  }
  const backend = createRestBackend({ client, url: service.origin }, surroundings)
  return { backend, client, service }
}
const found = (data: object) => json(200, { status: 'success', message: 'Approval', data })

describe('a poll over REST', () => {
  test('reports a lost connection at once', async () => {
    const { backend, service } = await start()
    service.next(cut, cut, cut)
    expect((await failure(backend.wait('apr_1', 1))).exit).toBe('unreachable')
  })
  test('returns a decision about this request only', async () => {
    const { backend, service } = await start()
    service.next(
      found(record({ status: 'denied' })),
      found(record({ status: 'denied', request_id: 'apr_2' })),
    )
    expect((await backend.wait('apr_1', 1)).status).toBe('denied')
    expect((await failure(backend.wait('apr_1', 1))).message).toBe('The service returned another request')
  })
  test('is no approval without a receipt', async () => {
    const { backend, service } = await start()
    service.next(found(record({ status: 'approved' })))
    expect((await failure(backend.wait('apr_1', 1))).code).toBe('unproved')
  })
})

test('sends the request once, whatever happens', async () => {
  const { backend, service } = await start()
  service.next(cut)
  const ask = { action: 'a', approvers: ['+12025550101'], org_id: 3 }
  expect((await failure(backend.request(ask))).exit).toBe('unreachable')
  expect(service.seen).toHaveLength(1)
  expect(JSON.parse(service.seen[0]!.body)).toEqual(ask)
})

describe('the detection of approvals', () => {
  test.each([
    ['ours', json(200, { status: 'success', message: 'Approvals', data: [] }), true],
    ['another', json(404, { status: 'error', message: 'Not found' }), false],
    ['a web server', page(404), false],
  ])('depends on the response (%s)', async (_, answer, expected) => {
    const { client, service } = await start()
    service.next(answer)
    expect(await hasApprovals(client)).toBe(expected)
  })

  test('is undecided if the key is rejected', async () => {
    const { client, service } = await start()
    service.next(json(401, { status: 'error', message: 'Unauthorized' }))
    expect((await failure(hasApprovals(client))).exit).toBe('forbidden')
  })
})
