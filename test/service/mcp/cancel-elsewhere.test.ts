import { expect, test } from 'vitest'
import { createSignals } from '../../../src/service/call/signals/signals.ts'
import type { NodeMessage } from '../../../src/service/storage/node-message.ts'
import { createFakeGateway } from '../../tools/fake-gateway.ts'
import { mobile } from '../../tools/gateway-tools.ts'
import { call, initialize, startTools } from './http-tools.ts'

type Receive = (message: NodeMessage) => void

/** Two tool servers that hear each other, as two nodes of a service do. */
const startTwo = () => {
  const fake = createFakeGateway()
  const receivers: Receive[][] = [[], []]
  const [one, other] = receivers.map((own, n) =>
    startTools({
      gatewayFor: () => fake.gateway,
      nodes: createSignals({
        publish: (message) => {
          for (const receive of receivers[1 - n]!) receive(message)
        },
        subscribe: (receive) => void own.push(receive),
      }),
    }),
  )
  return { fake, one: one!, other: other! }
}

test('a call ends if its client cancels it at another node', async () => {
  const { fake, one, other } = startTwo()
  const hello = await one.send(initialize('2025-11-25'))
  const headers = { 'mcp-session-id': hello.headers.get('mcp-session-id')! }
  // The other node listens from its first request on.
  await (await other.send(initialize('2025-11-25'))).text()
  const requested = fake.nextAsk()
  const answer = await one.send(
    call('request_approval', { action: 'deploy', approver_mobile: mobile }, {}, 5),
    {
      headers,
    },
  )
  await requested
  await new Promise(setImmediate)
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }
  expect((await other.send(cancelled, { headers })).status).toBe(202)
  expect(await answer.text()).not.toContain('data:')
  expect(fake.withdrawn).toEqual(['apr_1'])
  await Promise.all([one.close(), other.close()])
})
