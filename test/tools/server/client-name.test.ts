import { describe, expect, test } from 'vitest'
import { fake, installHooks, mobile, tools } from '../gateway-tools.ts'
import { call } from '../../service/mcp/http-tools.ts'

installHooks()

const ask = { action: 'deploy', approver_mobile: mobile }

const introduced = async (clientInfo: object): Promise<string | undefined> => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const { headers } = await tools.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const session = { 'mcp-session-id': headers.get('mcp-session-id')! }
  await tools.send(call('request_approval_async', ask), { headers: session })
  return fake.asks.at(-1)?.requester
}

describe('the name that a client claims', () => {
  test.each([
    [{ name: 'claude-code', title: 'Claude Code', version: '1' }, 'Claude Code'],
    [{ name: 'claude-code', version: '1' }, 'claude-code'],
    [{ name: 'x', title: ' a\nb\u202ec ', version: '1' }, 'a b\\u{202e}c'],
    [{ name: '🚀'.repeat(100), version: '1' }, '🚀'.repeat(80)],
    [{ name: ' ', version: '1' }, undefined],
  ])('reaches the approver from older clients too: %j', async (clientInfo, requester) => {
    expect(await introduced(clientInfo)).toEqual(requester)
  })

  test('is made safe in a forged session id', async () => {
    const made = Buffer.from(JSON.stringify([null, `x\u202e${'y'.repeat(300)}`])).toString('base64url')
    await tools.send(call('request_approval_async', ask), { headers: { 'mcp-session-id': `a.${made}` } })
    expect(fake.asks.at(-1)?.requester).toBe(`x\\u{202e}${'y'.repeat(71)}`)
  })

  test.each(['x', 'a.b', `a.${Buffer.from('{}').toString('base64url')}`, `a.${'x'.repeat(2000)}`])(
    'is unknown in a session id that we did not make: %s',
    async (session) => {
      await tools.send(call('request_approval_async', ask), { headers: { 'mcp-session-id': session } })
      expect(fake.asks.at(-1)?.requester).toBeUndefined()
    },
  )
})
