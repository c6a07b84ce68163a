import { expect, test } from 'vitest'
import { acme, ada, service } from '../acme-with-ada.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { asked, consume, grace, granted, installHooks, pod } from './grant-stage.ts'

installHooks()

const otherGroup = async (): Promise<string> => {
  const members = [ada.id, grace.id]
  return (await createRule(service, acme.id, { members, match: { type: 'text' } })).group
}

test.each([
  ['changed group', async () => at(acme.id, `groups/${await otherGroup()}/members/${grace.id}`)],
  ['deleted member of another group', async () => `/organization/${acme.id}/delete/user/${grace.id}`],
  [
    'deleted rule',
    async () =>
      at(
        acme.id,
        `rules/${(await createRule(service, acme.id, { members: [ada.id, grace.id], match: { type: 'text' } })).rule}`,
      ),
  ],
])('what was approved under a grant is not used after a %s', async (_, path) => {
  const changed = await path()
  await granted()
  const [used, left] = [await asked(pod('web-2')), await asked(pod('web-3'))]
  dataOf(await consume(used))
  dataOf(await service.call('DELETE', changed))
  expect(refusal(await consume(left))).toEqual([409, 'grant_over', []])
})
