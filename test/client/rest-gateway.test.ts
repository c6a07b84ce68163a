import { describe, expect, test } from 'vitest'
import { createRestGateway, hasApprovals } from '../../src/client/rest-gateway.ts'
import { cut, json, page } from '../fake-hosted.ts'
import { failure, withHosted } from './hosted.ts'

const record = (status: string) => ({
  status: 'success',
  message: 'Approval',
  data: { request_id: 'a', status },
})

const start = async () => {
  const { client, service } = await withHosted()
  let at = 0
  const gateway = createRestGateway({
    client,
    org_id: 3,
    clock: () => at,
    sleep: async (ms) => void (at += ms),
  })
  return { gateway, client, service, pass: (ms: number): void => void (at += ms) }
}

describe('waiting over REST', () => {
  test('survives broken connections and a restart of the service', async () => {
    const { gateway, service } = await start()
    service.next(
      cut,
      cut,
      cut,
      cut,
      json(502, {}),
      json(502, {}),
      json(502, {}),
      json(200, record('approved')),
    )
    expect((await gateway.wait('a', 60)).status).toBe('approved')
    expect(service.seen.every(({ method }) => method === 'GET')).toBe(true)
  })

  test('polls until somebody decides, but no longer than requested', async () => {
    const { gateway, service, pass } = await start()
    service.always((request, response) => {
      pass(50_000)
      json(200, record('pending'))(request, response)
    })
    expect((await gateway.wait('a', 120)).status).toBe('pending')
    expect(service.seen.map(({ path }) => /wait_s=(\d+)/.exec(path)?.[1])).toEqual([
      '50',
      '50',
      '20',
      undefined,
    ])
  })

  test('does not poll without a pause when the service does not wait', async () => {
    const { gateway, service } = await start()
    service.always(json(200, record('pending')))
    expect((await gateway.wait('a', 3)).status).toBe('pending')
    expect(service.seen).toHaveLength(4)
  })

  test('ends with the error of the service', async () => {
    const { gateway, service } = await start()
    service.next(json(404, { status: 'error', message: 'Request not found', data: { code: 'not_found' } }))
    expect((await failure(gateway.wait('a', 60))).exit).toBe('notFound')
  })
})

test('sends the request once, whatever happens', async () => {
  const { gateway, service } = await start()
  service.next(cut)
  expect((await failure(gateway.request({ action: 'a', approver_mobile: '+12025550101' }))).exit).toBe(
    'unreachable',
  )
  expect(service.seen).toHaveLength(1)
  expect(JSON.parse(service.seen[0]!.body)).toEqual({
    action: 'a',
    approver_mobile: '+12025550101',
    org_id: 3,
  })
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
