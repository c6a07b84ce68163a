import { expect, test } from 'vitest'
import { createApprover, decide } from '../approver.ts'
import { dataOf } from '../fixtures.ts'
import { acme, ada, clock, installHooks, service } from '../mcp/oauth-stage.ts'
import { createAdministrator, signIn } from '../mcp/terminal-stage.ts'
import { at, holdCalls } from '../rule-fixture.ts'
import { hour } from '../clock.ts'

installHooks()

/** An administrator who deletes a rule on their terminal: the people who are asked, and the call with an approval. */
const deleting = async (rule: string) => {
  const grace = await createAdministrator(2)
  const alan = await createAdministrator(3)
  const key = (await signIn(grace)).management_token!
  const remove = (headers = {}) => service.call('DELETE', at(acme.id, `rules/${rule}`), { key, headers })
  const { request } = (await remove()).body.data
  const asked = request.lines.map(({ people }: { people: { user_id: string }[] }) =>
    people.map(({ user_id }) => user_id),
  )
  const id: string = request.request_id
  return { grace, alan, asked, id, remove: () => remove({ 'x-svc-approval': id }) }
}

test('a new rule is deleted by the yes of the administrator who asks on their terminal', async () => {
  const { rule } = await holdCalls(service, acme.id, ['geofence'], [ada.user])
  const { grace, alan, asked, id, remove } = await deleting(rule)
  expect(asked).toEqual([[grace.user, alan.user]])
  expect((await remove()).status).toBe(409)
  dataOf(await decide(service, id, grace.key))
  dataOf(await remove())
  expect(dataOf(await service.call('GET', at(acme.id, 'rules')))).toEqual([])
})

test('a rule that is older needs the others, as does every other change', async () => {
  const { rule } = await holdCalls(service, acme.id, ['geofence'], [ada.user])
  clock.tick(25 * hour)
  const { alan, asked } = await deleting(rule)
  expect(asked).toEqual([[ada.user], [alan.user]])
})

test('a rule of a clock that was ahead needs the others, too', async () => {
  clock.tick(40 * hour)
  const { rule } = await holdCalls(service, acme.id, ['geofence'], [ada.user])
  clock.tick(-40 * hour)
  const { alan, asked } = await deleting(rule)
  expect(asked).toEqual([[ada.user], [alan.user]])
})

test('a rule is not new again when the clock is set back', async () => {
  const { rule } = await holdCalls(service, acme.id, ['geofence'], [ada.user])
  clock.tick(25 * hour)
  await createApprover(service, acme.id, 4)
  clock.tick(-24 * hour)
  const { alan, asked } = await deleting(rule)
  expect(asked).toEqual([[ada.user], [alan.user]])
})

test('two new rules cannot guard each other, and an older one guards them', async () => {
  await holdCalls(service, acme.id, ['rule'], [ada.user])
  clock.tick(25 * hour)
  const eve = await createApprover(service, acme.id, 4)
  const ben = await createApprover(service, acme.id, 5)
  const { rule } = await holdCalls(service, acme.id, ['rule', 'group'], [eve.id])
  await holdCalls(service, acme.id, ['rule', 'group'], [ben.id])
  const { grace, alan, asked } = await deleting(rule)
  expect(asked.toSorted()).toEqual([[ada.user], [grace.user, alan.user]])
})
