import { expect, test } from 'vitest'
import { send } from './oauth-client.ts'
import { installHooks, service } from './oauth-stage.ts'

installHooks()

const elsewhere = { origin: 'https://elsewhere.example' }

test.each([
  ['GET', '/authorize'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['POST', '/register'],
  ['POST', '/token'],
  ['POST', '/revoke'],
  ['POST', '/mcp'],
  ['GET', '/svc/v1/approver/session'],
  ['GET', '/svc/v1/keys'],
])('%s %s is refused to a page of another origin', async (method, path) => {
  const answer = await send(service, method, path, { headers: elsewhere })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null])
})
