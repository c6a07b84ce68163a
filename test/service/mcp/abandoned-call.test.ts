import { describe, expect, test, vi } from 'vitest'
import { fake, installHooks, mobile, tools } from '../../tools/gateway-tools.ts'
import { call, initialize, modern } from './http-tools.ts'

installHooks()

const ask = { action: 'deploy', approver_mobile: mobile }

const session = async (): Promise<Record<string, string>> => {
  const response = await tools.send(initialize('2025-11-25'))
  return { 'mcp-session-id': response.headers.get('mcp-session-id')! }
}
const cancel = (requestId: unknown, headers: Record<string, string>) =>
  tools.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, { headers })

describe('an abandoned call', () => {
  test('is withdrawn if an older client cancels it', async () => {
    const headers = await session()
    const requested = fake.nextAsk()
    const answer = await tools.send(call('request_approval', ask, {}, 5), { headers })
    await requested
    await new Promise(setImmediate)
    expect((await cancel(5, headers)).status).toBe(202)
    expect(await answer.text()).not.toContain('data:')
    expect(fake.withdrawn).toEqual(['apr_1'])
  })

  test('sends no answer to a client that cancels and accepts no stream', async () => {
    const headers = { ...(await session()), accept: '*/*' }
    const requested = fake.nextAsk()
    const answer = tools.send(call('request_approval', ask, {}, 5), { headers })
    await requested
    await new Promise(setImmediate)
    await cancel(5, headers)
    expect((await (await answer).text()).trim()).toBe('')
    expect(fake.withdrawn).toEqual(['apr_1'])
  })

  test('is not withdrawn by another id, type of id, or session', async () => {
    const headers = await session()
    const requested = fake.nextAsk()
    const answer = tools.ask(call('request_approval', ask, {}, 5), { headers })
    await requested
    await new Promise(setImmediate)
    await cancel(6, headers)
    await cancel('5', headers)
    await cancel(undefined, headers)
    await cancel(5, await session())
    await cancel(5, {})
    expect(fake.withdrawn).toEqual([])
    fake.end('apr_1', { status: 'approved' })
    expect((await answer).result.structuredContent.status).toBe('approved')
  })

  test('is not withdrawn if two calls cannot be distinguished', async () => {
    const answers = []
    for (let i = 0; i < 2; i++) {
      const requested = fake.nextAsk()
      answers.push(tools.send(call('request_approval', { ...ask, action: `deploy ${i}` }, {}, 1)))
      await requested
    }
    await new Promise(setImmediate)
    await cancel(1, {})
    expect(fake.withdrawn).toEqual([])
    fake.end('apr_1', { status: 'denied' })
    await (await answers[0]!).text()
    await new Promise(setImmediate)
    await cancel(1, {})
    await (await answers[1]!).text()
    expect(fake.withdrawn).toEqual(['apr_2'])
  })

  test('is withdrawn shortly after an older client disconnects', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const gone = new AbortController()
      const requested = fake.nextAsk()
      const answer = tools.send(call('request_approval', ask), { signal: gone.signal })
      await requested
      await new Promise(setImmediate)
      gone.abort()
      await vi.advanceTimersByTimeAsync(2_900)
      expect(fake.withdrawn).toEqual([])
      await vi.advanceTimersByTimeAsync(200)
      expect(fake.withdrawn).toEqual(['apr_1'])
      await answer
    } finally {
      vi.useRealTimers()
    }
  })

  test('is withdrawn when a client of 2026-07-28 closes the stream', async () => {
    const gone = new AbortController()
    const { body, headers } = modern('tools/call', { name: 'request_approval', arguments: ask })
    const requested = fake.nextAsk()
    const answer = tools.send(body, { headers, signal: gone.signal }).catch(() => undefined)
    await requested
    await new Promise(setImmediate)
    gone.abort()
    await answer
    await new Promise(setImmediate)
    expect(fake.withdrawn).toEqual(['apr_1'])
  })

  test.each(['older', '2026-07-28'])('is withdrawn when the service stops (%s)', async (era) => {
    const { body, headers } = modern('tools/call', { name: 'request_approval', arguments: ask })
    const requested = fake.nextAsk()
    const answer = era === 'older' ? tools.send(call('request_approval', ask)) : tools.send(body, { headers })
    await requested
    await new Promise(setImmediate)
    await tools.close()
    expect(fake.withdrawn).toEqual(['apr_1'])
    await answer.catch(() => undefined)
  })

  test('leaves nothing pending if it was asynchronous', async () => {
    await tools.ask(call('request_approval_async', ask))
    await tools.close()
    expect(fake.withdrawn).toEqual([])
  })
})
