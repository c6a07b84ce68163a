import { describe, expect, test } from 'vitest'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { command } from './command-subject.ts'
import {
  asked,
  asker,
  consume,
  grace,
  granted,
  grants,
  group,
  installHooks,
  pod,
  rule,
} from './grant-stage.ts'

installHooks()

// When a grant ends, and that it stays ended.

const leave = async () => {
  dataOf(await service.call('DELETE', at(acme.id, `groups/${group}/members/${ada.id}`)))
  const body = { user_id: ada.id }
  dataOf(await service.call('POST', at(acme.id, `groups/${group}/members`), { body }))
}
const change = async () => {
  const before = dataOf(await service.call('GET', at(acme.id, `rules/${rule}`)))
  const { org_id: _, digest: __, created_at: ___, ...same } = before
  for (const rules of [[{ ...same, lifetime_s: 600 }], [same]])
    dataOf(await service.call('POST', at(acme.id, 'rule-changes'), { body: { rules } }))
}
const hold = async () => {
  for (const move of ['pending', 'accept'])
    dataOf(await service.call('POST', `/organization/${acme.id}/user/${ada.id}/${move}`))
}

const otherRule = () => createRule(service, acme.id, { members: [ada.id, grace.id], match: { type: 'text' } })

describe('a grant', () => {
  test('ends with its time', async () => {
    await granted()
    clock.tick(600_001)
    expect((await asked()).status).toBe('pending')
    // What ended stays ended when the clock is set back.
    clock.tick(-600_001)
    expect((await asked(pod('web-2'))).status).toBe('pending')
  })

  test('is ended after its last use too, with what was not done under it yet', async () => {
    const { request_id } = await granted()
    const uses = [await asked(), await asked(pod('web-2'))]
    expect((await asked(pod('web-3'))).status).toBe('pending')
    expect(await grants()).toMatchObject([{ used: 2, uses: 2 }])
    dataOf(await service.call('DELETE', at(acme.id, `grants/${request_id}`)))
    for (const use of uses) expect((await consume(use)).status).toBeGreaterThanOrEqual(400)
  })

  test('does not hold once another rule applies, or its rule has changed', async () => {
    await granted()
    const { rule: second } = await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: { type: 'command', cwd: ['/srv/**'] },
      grant: { max_s: 600, uses: 2 },
    })
    expect((await asked()).status).toBe('pending')
    dataOf(await service.call('DELETE', at(acme.id, `rules/${second}`)))
    clock.tick(11 * 60_000)
    await granted()
    expect((await asked()).status).toBe('approved')
    dataOf(await service.call('DELETE', at(acme.id, `rules/${rule}`)))
    const body = {
      name: rule,
      who: [`@${group}`],
      match: { type: 'command', argv: ['kubectl', '**'] },
      grant: { max_s: 600, uses: 2 },
    }
    dataOf(await service.call('POST', at(acme.id, 'rules'), { body }))
    expect((await asked()).status).toBe('pending')
  })

  test('ends with the device, and with the place in the group', async () => {
    await granted()
    dataOf(await service.call('DELETE', at(acme.id, `groups/${group}/members/${ada.id}`)))
    expect((await asked()).status).toBe('pending')
  })

  test('stays ended once its rule, its approver and their place are as they were', async () => {
    for (const leaveAndReturn of [leave, change, hold]) {
      const { granted_until } = await granted()
      expect(granted_until).toBe(new Date(clock.now().getTime() + 600_000).toISOString())
      await leaveAndReturn()
      const { status, request_id } = await asked()
      expect(status).toBe('pending')
      dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { key: asker.key }))
      clock.tick(11 * 60_000)
    }
  })

  test('ends with a revoked device', async () => {
    await granted()
    dataOf(await service.call('DELETE', at(acme.id, `devices/${ada.device}`)))
    expect((await asked()).status).toBe('pending')
  })

  test.each([
    ['device', () => `devices/${ada.device}`],
    ['place in the group', () => `groups/${group}/members/${ada.id}`],
  ])(
    'is not used any more without the %s of its approver, also where it was approved before',
    async (_, path) => {
      await granted()
      const [used, left] = [await asked(pod('web-2')), await asked(pod('web-3'))]
      expect([used.status, left.status]).toEqual(['approved', 'approved'])
      dataOf(await consume(used))
      dataOf(await service.call('DELETE', at(acme.id, path())))
      expect(refusal(await consume(left))).toEqual([409, 'grant_over', []])
    },
  )

  test.each([
    ['changed group', async () => at(acme.id, `groups/${(await otherRule()).group}/members/${grace.id}`)],
    ['deleted member of another group', async () => `/organization/${acme.id}/delete/user/${grace.id}`],
    ['deleted rule', async () => at(acme.id, `rules/${(await otherRule()).rule}`)],
  ])('is not used any more after a %s, also where it was approved before', async (_, path) => {
    const changed = await path()
    await granted()
    const [used, left] = [await asked(pod('web-2')), await asked(pod('web-3'))]
    dataOf(await consume(used))
    dataOf(await service.call('DELETE', changed))
    expect(refusal(await consume(left))).toEqual([409, 'grant_over', []])
  })

  test('is not used after its time, however long an approval can be used', async () => {
    await granted()
    const { use_by, ...use } = await asked({ ...pod('web-2'), use_within_s: 3600 })
    expect(use_by).toBe(new Date(clock.now().getTime() + 600_000).toISOString())
    clock.tick(600_000)
    expect(refusal(await consume(use as Parameters<typeof consume>[0]))).toEqual([410, 'use_by_passed', []])
  })

  test('ends with a report', async () => {
    await granted()
    const other = await asked({ subject: command('kubectl', 'delete', 'pod', 'a b') })
    dataOf(await decide(service, other.request_id, ada.key, { decision: 'deny', not_me: true }))
    expect(await grants()).toEqual([])
  })
})
