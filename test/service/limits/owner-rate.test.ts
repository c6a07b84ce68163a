import { expect, test } from 'vitest'
import { ask } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { acme, ada, installHooks, service } from '../mcp/oauth-stage.ts'
import { createAdministrator, installation, signIn } from '../mcp/terminal-stage.ts'

installHooks()

/** How many of `count` requests of a key succeeded. */
const answered = async (count: number, key: string): Promise<number> => {
  const calls = Array.from({ length: count }, () => service.call('GET', '/svc/v1/whoami', { key }))
  return (await Promise.all(calls)).filter(({ status }) => status === 200).length
}

test('requests of all keys that a person confirmed count together, and leave other people theirs', async () => {
  const { access_token, management_token } = await signIn(await createAdministrator(2))
  const other = await signIn(ada)
  const body = { key_requests_per_second: 1, requests_per_second: 3 }
  dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/limits`, { body }))
  expect([await answered(25, access_token), await answered(25, management_token!)]).toEqual([25, 15])
  const refused = await service.call('GET', '/svc/v1/whoami', { key: access_token })
  expect([refused.body.message, refused.headers['ratelimit-policy']]).toEqual([
    'All keys of one person together are limited to 1 request per second, with bursts of 40',
    '"owner";q=40;w=40, "organization";q=120;w=40',
  ])
  expect([await answered(40, other.access_token), await answered(35, acme.key)]).toEqual([40, 35])
})

test('half of the requests to a person is left to others, not to another key of whoever asked', async () => {
  const grace = await createAdministrator(2)
  const terminals = ['a', 'b', 'c'].map((letter) => signIn(grace, { id: installation(letter), scope: 'ask' }))
  const [one, two, three] = (await Promise.all(terminals)).map(({ access_token }) => access_token)
  for (const [key, most] of [
    [one, 5],
    [two, 3],
  ] as const)
    for (let times = 0; times < most; times++) {
      const { request_id } = dataOf(await ask(service, ada, {}, key))
      dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { key: key!, body: {} }))
    }
  expect(refusal(await ask(service, ada, {}, three))[1]).toBe('too_many_rings')
  dataOf(await ask(service, ada, {}, acme.key))
})
