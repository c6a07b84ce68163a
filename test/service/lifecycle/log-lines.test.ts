import { expect, test } from 'vitest'
import type { LogRecord } from '../../../src/core/log.ts'
import type { ServeOptions } from '../../../src/service/lifecycle/serve-options.ts'
import { ask, installHooks, start } from '../started.ts'

installHooks()

const version = '0.1.0 (1234abcd)'
const logged = async (options: Partial<Pick<ServeOptions, 'trustedProxy'>> = {}) => {
  const lines: LogRecord[] = []
  const service = await start({ version, log: (line) => lines.push(line), ...options })
  return { service, lines, operator: service.operatorKey! }
}

test('each line names the node and its version; that of a request the address and the organization', async () => {
  const { service, lines, operator } = await logged()
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', body: JSON.stringify(body) }
    return (await (await ask(service, path, operator, init)).json()) as { data: { id: string; key: string } }
  }
  const { data: acme } = await post('/organization/create', { name: 'Acme', slug: 'acme' })
  const own = await fetch(new URL('/svc/v1/keys', service.healthUrl), {
    method: 'POST',
    headers: { 'x-api-key': operator, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ci', org_id: Number(acme.id), scopes: ['read'] }),
  })
  const { data } = (await own.json()) as { data: { key: string } }
  await ask(service, '/organizations', data.key)
  await ask(service, '/organizations', 'nothing')
  const whoami = await fetch(new URL('/svc/v1/nodes', service.healthUrl), {
    headers: { 'x-api-key': operator },
  })
  const [node] = ((await whoami.json()) as { data: { id: string }[] }).data
  expect(lines.filter((line) => line.node !== node!.id || line.version !== version)).toEqual([])
  expect(lines.map(({ status, key, org_id, ip }) => [status, key, org_id, ip])).toEqual([
    [200, 'operator', undefined, '127.0.0.1'],
    [200, 'operator', undefined, '127.0.0.1'],
    [200, 'ci', Number(acme.id), '127.0.0.1'],
    [401, undefined, undefined, '127.0.0.1'],
    [200, 'operator', undefined, '127.0.0.1'],
  ])
})

test.each([
  [[], '127.0.0.1'],
  [['127.0.0.1'], '203.0.113.7'],
])('an address behind a proxy counts if the proxy is one of %j', async (trustedProxy, ip) => {
  const { service, lines } = await logged({ trustedProxy })
  await fetch(service.healthUrl, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(lines.at(-1)).toMatchObject({ route: '/health', ip })
})
