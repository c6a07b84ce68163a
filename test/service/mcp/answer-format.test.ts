import { describe, expect, test } from 'vitest'
import { fake, installHooks, mobile, tools } from '../../tools/gateway-tools.ts'
import { call, modern } from './http-tools.ts'

installHooks()

const ask = { action: 'deploy', approver_mobile: mobile }

describe('an answer', () => {
  test.each(['older', '2026-07-28'])(
    'is a stream that opens at once while the person decides (%s)',
    async (era) => {
      const one = modern('tools/call', { name: 'request_approval', arguments: ask })
      const response = await (era === 'older'
        ? tools.send(call('request_approval', ask))
        : tools.send(one.body, { headers: one.headers }))
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      const reader = response.body!.getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(': open\n\n')
      await reader.cancel()
    },
  )

  test.each(['*/*', undefined, 'text/plain, */*', 'application/json'])(
    'is JSON for a client that accepts %s',
    async (accept) => {
      const headers = { accept: accept as string }
      const quick = await tools.send(call('request_approval_async', ask), { headers })
      expect(await quick.json()).toMatchObject({ result: { structuredContent: { status: 'pending' } } })
      const requested = fake.nextAsk()
      const slow = await tools.send(call('request_approval', { ...ask, action: 'other' }), { headers })
      expect(slow.headers.get('content-type')).toBe('application/json')
      await requested
      fake.end('apr_2', { status: 'approved' })
      expect(await slow.json()).toMatchObject({ result: { structuredContent: { status: 'approved' } } })
    },
  )

  test('is plain JSON for an older client that did not request progress', async () => {
    const response = await tools.send(call('request_approval_async', ask))
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toBe('req_1')
  })

  test.each(['older', '2026-07-28'])('is a stream for a client (%s) that did', async (era) => {
    const params = { _meta: { progressToken: 'p' } }
    const requested = fake.nextAsk()
    const one = modern('tools/call', { name: 'request_approval', arguments: ask, ...params })
    const sent =
      era === 'older'
        ? tools.send(call('request_approval', ask, params))
        : tools.send(one.body, { headers: one.headers })
    await requested
    setImmediate(() => fake.end('apr_1', { status: 'approved' }))
    const response = await sent
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await response.text()).toMatch(/notifications\/progress[^]*"status":"approved"/)
  })
})
