import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMcpGateway } from '../../../src/tools/client/mcp-gateway.ts'
import { createToolClient } from '../../../src/tools/client/tool-client.ts'
import { createTransport } from '../../../src/client/undici-transport.ts'
import { SvcError } from '../../../src/core/errors.ts'
import { silence, startExactHosted, type Tools } from '../../exact-hosted.ts'
import { failure } from '../../client/hosted.ts'

const open = async (tools: Tools) => {
  const service = await startExactHosted({ routes: [], tools })
  const transport = createTransport({ env: {} })
  const client = createToolClient({ url: service.mcpUrl, transport, name: 'test' })
  onTestFinished(async () => {
    await client.close()
    await transport.close()
    await service.close()
  })
  return { service, client, gateway: createMcpGateway({ tools: client }) }
}
const ask = { action: 'Deploy', approvers: ['+12025550101'] }
const pending = {
  status: 'pending',
  request_id: 'r-1',
  approver_mobile: ask.approvers[0],
  expires_at: '2030-01-01T00:00:00Z',
}

const text = (said: unknown) => ({
  type: 'text',
  text: typeof said === 'string' ? said : JSON.stringify(said),
})

describe('a tool server that returns what the specification shows', () => {
  test('is read from its text, even if it rejects the notification of the client', async () => {
    const { client, service } = await open({ check_status: { status: 'approved', request_id: 'r-1' } })
    expect((await client.list()).map(({ name }) => name)).toHaveLength(3)
    expect(await client.call('check_status', { request_id: 'r-1' })).toEqual({
      status: 'approved',
      request_id: 'r-1',
    })
    expect(service.seen.map(({ body }) => JSON.parse(body).method)).toContain('notifications/initialized')
  })

  test.each([
    ['pending', pending],
    ['approved', { ...pending, status: 'approved', attestation: {} }],
    ['denied', { ...pending, status: 'denied', detail: 'No' }],
  ] as const)('reports that a request is %s', async (status, check_status) => {
    const { gateway } = await open({ request_approval_async: pending, check_status })
    const { request_id } = await gateway.request(ask)
    expect(await gateway.status(request_id)).toMatchObject({ status, request_id: 'r-1', action: 'Deploy' })
  })
})

describe('an unreadable result', () => {
  test.each([
    ['words', 'approved'],
    ['a list', '[{"status":"approved"}]'],
    ['nothing', ''],
  ])(
    '%s of check_status is neither an approval nor a denial, and the error says where to check',
    async (_, said) => {
      const { gateway } = await open({ check_status: said })
      expect(await failure(gateway.status("r-1'; x"))).toMatchObject({
        code: 'unexpected_answer',
        detail: 'It is not known whether the request was approved.',
        hint: `svc approve status 'r-1'\\''; x' --mcp`,
      })
    },
  )

  test('of a request says that the person may have been asked', async () => {
    const { gateway } = await open({ request_approval_async: 'approved' })
    const { message, detail } = await failure(gateway.request(ask))
    expect(message).toContain('request_approval_async')
    expect(detail).toBe('The person may have been asked. It is not known whether the request was approved.')
  })
})

/** A server that accepts connections and never answers, or one whose tools never answer. */
const openSilent = async (
  which: string,
  more: { signal?: AbortSignal; mostMs?: number },
): Promise<ReturnType<typeof createToolClient>> => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const service = await startExactHosted({ routes: [], tools: { check_status: silence } })
  const { port } = server.address() as AddressInfo
  const url = which === 'from the start' ? `http://127.0.0.1:${port}/mcp` : service.mcpUrl
  const transport = createTransport({ env: {} })
  const client = createToolClient({ url, transport, name: 'test', ...more })
  onTestFinished(async () => {
    await client.close()
    await transport.close()
    server.close()
    await service.close()
  })
  return client
}
const cases = ['from the start', 'at a call']
const check = (client: ReturnType<typeof createToolClient>, signal?: AbortSignal) =>
  failure(client.call('check_status', { request_id: 'r-1' }, { signal }))

describe('a tool server that does not answer', () => {
  test.each(cases)('%s is abandoned when the user interrupts', async (which) => {
    const interrupt = new AbortController()
    const client = await openSilent(which, { signal: interrupt.signal })
    const ended = check(client)
    setTimeout(() => interrupt.abort(), 200)
    expect(await ended).toMatchObject({ exit: 'interrupted' })
  })

  test.each(cases)('%s is abandoned when one call is withdrawn', async (which) => {
    const withdrawal = new AbortController()
    const ended = check(await openSilent(which, {}), withdrawal.signal)
    setTimeout(() => withdrawal.abort(), 200)
    expect(await ended).toBeInstanceOf(SvcError)
  })

  test.each([
    ['from the start', 'no_answer'],
    ['at a call', 'timed_out'],
  ])('%s is abandoned after the total timeout', async (which, code) => {
    expect(await check(await openSilent(which, { mostMs: 1_000 }))).toMatchObject({
      exit: 'unreachable',
      code,
    })
  })
})

describe('a result that contradicts itself', () => {
  const [yes, no] = ['approved', 'denied'].map((status) => ({ status, request_id: 'r-1' }))
  const contradictions: [string, object][] = [
    ['words that deny it before the JSON', { content: [text('Denied. As JSON:'), text(yes)] }],
    ['words that deny it after the JSON', { content: [text(yes), text("It wasn't approved.")] }],
    ['a list that denies it', { content: [text(yes), text([no])] }],
    ['two blocks that differ', { content: [text(yes), text(no)] }],
    ['two blocks that differ, the other way round', { content: [text(no), text(yes)] }],
    ['a structured answer that differs', { content: [text(no)], structuredContent: yes }],
    ['two requests', { content: [text({ ...yes, request_id: 'r-2' })], structuredContent: yes }],
  ]

  test.each(contradictions)('by %s is not an approval', async (_, said) => {
    const { gateway } = await open({ check_status: said, request_approval: said })
    const message = expect.stringContaining('contradicts itself, so it is not an approval')
    expect(await failure(gateway.status('r-1'))).toMatchObject({ code: 'unexpected_answer', message })
    const { request_id } = await gateway.request({ ...ask, lifetime_s: 5 })
    expect(await failure(gateway.wait(request_id, 5))).toMatchObject({ code: 'unexpected_answer', message })
  })

  test('nowhere is an approval', async () => {
    const content = [text('Approved: revoke the expired certificate. As JSON:'), text(yes)]
    const { gateway } = await open({ check_status: { content, structuredContent: yes } })
    expect(await gateway.status('r-1')).toMatchObject({ status: 'approved' })
  })
})

describe('a result without a decision', () => {
  test.each([
    ['has no status', { request_id: 'r-1' }, 'no status'],
    ['has an unknown status', { status: 'APPROVED', request_id: 'r-1' }, '"APPROVED"'],
    ['has a status that is not text', { status: true, request_id: 'r-1' }, 'no status'],
    ['returned no request id', { status: 'approved' }, 'without the id of the request'],
    ['is about another request', { status: 'approved', request_id: 'r-2' }, 'another request'],
  ])('%s', async (_, check_status, said) => {
    const { gateway } = await open({ request_approval_async: pending, check_status })
    const { request_id } = await gateway.request(ask)
    const error = await failure(gateway.status(request_id))
    expect([error.code, error.message, error.detail]).toEqual([
      'unexpected_answer',
      expect.stringContaining(said),
      'It is not known whether the request was approved.',
    ])
    expect(error.hint).toBe('svc approve status r-1 --mcp')
  })

  test.each([
    ['has no ID', { ...pending, request_id: undefined }, 'returned no request id'],
    ['has an empty ID', { ...pending, request_id: '' }, 'returned no request id'],
    ['is approved at once', { ...pending, status: 'approved' }, 'before the person can have made one'],
  ])('of request_approval_async: %s', async (_, request_approval_async, said) => {
    const { gateway } = await open({ request_approval_async })
    expect((await failure(gateway.request(ask))).message).toContain(said)
  })

  test('of a call that waits is not an approval either', async () => {
    const { gateway } = await open({ request_approval: { status: 'ok' } })
    const { request_id } = await gateway.request({ ...ask, lifetime_s: 5 })
    expect((await failure(gateway.wait(request_id, 5))).message).toContain('"ok"')
  })
})
