import { describe, expect, test } from 'vitest'
import { createFakeGateway } from '../fake-gateway.ts'
import { call, messageOf, startTools } from '../../service/mcp/http-tools.ts'
import { fake, installHooks, mobile, tools } from '../gateway-tools.ts'
import { allScopes } from '../../service/all-scopes.ts'

installHooks()

const ask = { action: 'deploy', approvers: [mobile] }
const send = (args: object = {}, name = 'request_approval', options = {}) =>
  tools.send(call(name, { ...ask, ...args }), options)
const tick = () => new Promise(setImmediate)
const outputOf = async (response: Response) => (await messageOf(response)).result.structuredContent

const waiting = (id: number) => tools.send(call('request_approval', ask, {}, id))
const cancel = (id: number) =>
  tools.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
const hello = async (name: string) => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } }
  const { headers } = await tools.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  return { headers: { 'mcp-session-id': headers.get('mcp-session-id')! } }
}

describe('a call that is identical to a pending one', () => {
  test('notifies nobody again and gets the same decision', async () => {
    const first = await send()
    const second = await send({ timeout_s: 500 })
    await tick()
    expect(fake.asks).toHaveLength(1)
    fake.end('apr_1', { status: 'approved' })
    expect(await outputOf(first)).toMatchObject({ status: 'approved', request_id: 'apr_1' })
    expect(await outputOf(second)).toMatchObject({ status: 'approved', request_id: 'apr_1' })
  })

  test.each([
    ['another action', { action: 'destroy' }],
    ['another reason', { reason: 'because' }],
    ['another approver', { approvers: ['+12025550102'] }],
    ['other factors', { factors: ['time'] }],
  ])('does not join %s', async (_, args) => {
    const answers = [await send(), await send(args)]
    await tick()
    expect(fake.asks).toHaveLength(2)
    for (const id of ['apr_1', 'apr_2']) fake.end(id, { status: 'denied' })
    for (const answer of answers) await answer.text()
  })

  test('does not join one of another client with the same bearer token', async () => {
    await send({}, 'request_approval_async', await hello('one'))
    await send({}, 'request_approval_async', await hello('two'))
    await send({}, 'request_approval_async', await hello('two'))
    expect(fake.asks.map(({ requester }) => requester)).toEqual(['one', 'two'])
  })

  test('does not join one of another key', async () => {
    const fakes = [createFakeGateway(), createFakeGateway()]
    const ci = { name: 'ci', orgId: 1, scopes: allScopes }
    const keys = { a: { keyId: 1, ...ci }, b: { keyId: 2, ...ci } }
    const shared = startTools({
      keys,
      token: 'the bearer',
      gatewayFor: ({ keyId }) => fakes[keyId - 1]!.gateway,
    })
    for (const key of ['a', 'b'])
      await shared.ask(call('request_approval_async', ask), { headers: { authorization: `Bearer ${key}` } })
    expect(fakes.map(({ asks }) => asks.length)).toEqual([1, 1])
    await shared.close()
  })

  test('does not join one that is decided', async () => {
    await send({}, 'request_approval_async')
    fake.end('apr_1', { status: 'denied' })
    expect(await outputOf(await send({}, 'request_approval_async'))).toMatchObject({ request_id: 'apr_2' })
  })

  test('sends a new request if the first one failed', async () => {
    const { request } = fake.gateway
    fake.gateway.request = () => Promise.reject(new Error('the store is away'))
    await send({}, 'request_approval_async')
    fake.gateway.request = request
    expect(await outputOf(await send({}, 'request_approval_async'))).toMatchObject({ request_id: 'apr_1' })
  })

  test('keeps the request if the other is cancelled, and withdraws it as the last one', async () => {
    const answers = [await waiting(1), await waiting(2)]
    await tick()
    await cancel(1)
    await answers[0]!.text()
    expect(fake.withdrawn).toEqual([])
    await cancel(2)
    await answers[1]!.text()
    expect(fake.withdrawn).toEqual(['apr_1'])
  })

  test('returns pending if its own time is over and the other still waits', async () => {
    const first = await send()
    await tick()
    fake.gateway.wait = (id) => fake.gateway.status(id)
    expect(await outputOf(await send({ timeout_s: 1 }))).toMatchObject({
      status: 'pending',
      request_id: 'apr_1',
    })
    expect(fake.withdrawn).toEqual([])
    fake.end('apr_1', { status: 'approved' })
    expect(await outputOf(first)).toMatchObject({ status: 'approved' })
  })

  test('is withdrawn with it, and gets the same answer, if the service stops', async () => {
    const answers = [await waiting(1), await waiting(2), await waiting(3)]
    await tick()
    await tools.close()
    const expected = { status: 'expired', detail: expect.stringContaining('because the service stopped.') }
    for (const answer of answers) expect(await outputOf(answer)).toMatchObject(expected)
    expect(fake.withdrawn).toEqual(['apr_1'])
  })

  test('stays open when the service stops, if a caller has its id', async () => {
    await send({}, 'request_approval_async')
    const answers = [await waiting(1), await waiting(2)]
    await tick()
    await tools.close()
    for (const answer of answers) expect(await outputOf(answer)).toMatchObject({ status: 'pending' })
    expect(fake.withdrawn).toEqual([])
  })

  test('is not withdrawn after a joined call has returned pending', async () => {
    const first = await waiting(1)
    await tick()
    const { wait } = fake.gateway
    fake.gateway.wait = (id) => fake.gateway.status(id)
    expect(await outputOf(await send({ timeout_s: 1 }))).toMatchObject({ status: 'pending' })
    fake.gateway.wait = wait
    await cancel(1)
    await first.text()
    expect(fake.withdrawn).toEqual([])
  })

  test('never withdraws the request of an asynchronous call', async () => {
    await send({}, 'request_approval_async')
    fake.gateway.wait = (id) => fake.gateway.status(id)
    expect(await outputOf(await send({ timeout_s: 1 }))).toMatchObject({ status: 'pending' })
    expect(fake.withdrawn).toEqual([])
  })
})
