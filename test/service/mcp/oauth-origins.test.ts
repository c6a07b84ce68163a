import { expect, test } from 'vitest'
import { authorize, registered, send } from './oauth-client.ts'
import { installHooks, service } from './oauth-stage.ts'

installHooks()

const elsewhere = { origin: 'https://inspector.example' }
const metadata = '/.well-known/oauth-authorization-server'

test.each([
  ['GET', metadata, 200],
  ['GET', '/.well-known/oauth-protected-resource/mcp', 200],
  ['POST', '/register', 400],
  ['POST', '/token', 415],
  ['POST', '/revoke', 415],
])('%s %s answers a client in a browser', async (method, path, status) => {
  const answer = await send(service, method, path, { headers: elsewhere })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, '*'])
  const preflight = await send(service, 'OPTIONS', path, {
    headers: { ...elsewhere, 'access-control-request-method': method },
  })
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, method])
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
})

test.each([
  ['GET', '/authorize'],
  ['POST', '/mcp'],
  ['GET', '/svc/v1/approver/session'],
  ['GET', '/svc/v1/keys'],
])('%s %s is refused to a page of another origin', async (method, path) => {
  const answer = await send(service, method, path, { headers: elsewhere })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null])
})

test('another host name is still refused', async () => {
  expect((await authorize(service, { client_id: await registered(service) })).status).toBeLessThan(500)
  const answer = await send(service, 'GET', metadata, { headers: { ...elsewhere, host: 'evil.example' } })
  expect(answer.status).toBe(403)
})
