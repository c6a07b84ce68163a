import { beforeEach, describe, expect, test } from 'vitest'
import { remindDue } from '../../../src/service/approvals/reminders.ts'
import {
  ada,
  acme,
  admin,
  alan,
  clock,
  createGroup,
  day,
  grace,
  installHooks,
  service,
  signAway,
} from '../away-stage.ts'
import { decide } from '../approver.ts'
import { dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { fromPhone, type Phone, readInbox } from '../page/phone.ts'
import { subscribeBrowser } from '../page/push-service.ts'

installHooks()

const at = (days: number): string => new Date(clock.now().getTime() + days * day).toISOString()
const leave = async (phone: Phone, more: object = {}) =>
  dataOf(await signAway(phone, { until: at(7), ...more }))
const ask = (...approvers: string[]) =>
  service.call('POST', '/svc/v1/approvals', { key: acme.key, body: { action: 'Deploy', approvers } })
const asked = async (...approvers: string[]) => dataOf(await ask(...approvers))
/** Who was notified since this was last called. */
const notified = (): string[] => service.notified.splice(0).map(({ user_id }) => String(user_id))
const statusOf = async (id: string): Promise<string> =>
  dataOf(await service.call('GET', `/svc/v1/approvals/${id}`, { key: acme.key })).status

beforeEach(() => createGroup('sre', [ada, grace, alan]))

describe('a group', () => {
  test('does not notify whoever is away, and they can answer', async () => {
    await leave(ada)
    const { request_id, lines } = await asked('@sre')
    expect(notified()).toEqual([grace.user, alan.user])
    expect(lines[0].people.map(({ user_id }: { user_id: string }) => user_id)).toEqual([
      ada.user,
      grace.user,
      alan.user,
    ])
    const { requests } = await readInbox(service, ada)
    expect(requests).toMatchObject([{ request_id }])
    dataOf(await decide(service, request_id, ada.key))
    expect(await statusOf(request_id)).toBe('approved')
  })

  test('sends no push to whoever is away', async () => {
    for (const { cookie, user } of [ada, grace]) {
      const { endpoint, keys } = subscribeBrowser(`https://push.example/${user}`).subscription
      dataOf(await fromPhone(service, 'POST', 'push', { cookie, body: { endpoint, keys } }))
    }
    await leave(ada)
    await asked('@sre')
    const pushed = (await service.messages()).filter(({ kind }) => kind === 'approval')
    expect(pushed.map(({ to }) => to)).toEqual([grace.device])
  })

  test('names first whoever was notified', async () => {
    await leave(ada)
    expect((await asked('@sre')).approver_mobile).toBe(grace.mobile)
  })

  test('notifies everybody if the others are too few', async () => {
    await leave(ada)
    await asked('@sre:2')
    expect(notified()).toEqual([grace.user, alan.user])
    await asked('@sre:3')
    expect(notified().toSorted()).toEqual([ada.user, grace.user, alan.user])
  })

  test('counts a person who is there for one line only', async () => {
    await createGroup('dba', [ada, grace])
    await leave(ada)
    await leave(alan)
    await asked('@sre', '@dba')
    expect(notified().toSorted()).toEqual([ada.user, grace.user, alan.user])
  })

  test('asks everybody again from the end of the interval on, and before it begins', async () => {
    await leave(ada, { from: at(1), until: at(2) })
    const everybody = [ada.user, grace.user, alan.user]
    for (const [ms, expected] of [
      [day - 1, everybody],
      [1, [grace.user, alan.user]],
      [day - 1, [grace.user, alan.user]],
      [1, everybody],
    ] as const) {
      clock.tick(ms)
      await asked('@sre')
      expect(notified()).toEqual(expected)
    }
  })
})

describe('a named person who is away', () => {
  test('is not asked, and the requester learns until when', async () => {
    await leave(ada)
    const answer = await ask(ada.mobile)
    expect(refusal(answer)).toEqual([409, 'approver_away', []])
    expect(answer.body.message).toContain(`until ${at(7)}`)
    expect(answer.body.data.away).toEqual([{ user_id: ada.user, name: 'Ada Lovelace', until: at(7) }])
    expect(await refusedWithoutTrace(service, () => ask('@sre', ada.mobile))).toEqual([
      409,
      'approver_away',
      [],
    ])
    expect(notified()).toEqual([])
  })

  test('leaves the request to another one who was named', async () => {
    await leave(ada)
    await asked(`${ada.mobile},${grace.mobile}`)
    expect(notified()).toEqual([grace.user])
    await leave(grace)
    expect(refusal(await ask(`${ada.mobile},${grace.mobile}`))[1]).toBe('approver_away')
  })

  test('can be asked again once they are back', async () => {
    await leave(ada)
    dataOf(await signAway(ada, { end: true }))
    await asked(ada.mobile)
    expect(notified()).toEqual([ada.user])
  })
})

test('a pending request stays as it was made', async () => {
  const named = await asked(ada.mobile)
  const { request_id } = await asked('@sre')
  notified()
  await leave(ada)
  dataOf(await decide(service, named.request_id, ada.key))
  dataOf(await decide(service, request_id, ada.key))
  expect([await statusOf(named.request_id), await statusOf(request_id)]).toEqual(['approved', 'approved'])
  expect(notified()).toEqual([])
})

test('whoever was away when a long request was made is not reminded of it', async () => {
  const body = { name: 'long', match: { type: 'text' }, who: ['@sre:2'], lifetime_s: 86_400 }
  dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/rules`, { body }))
  await leave(ada, { until: at(0.5) })
  dataOf(
    await service.call('POST', '/svc/v1/approvals', {
      key: acme.key,
      body: { action: 'Deploy', org_id: acme.id },
    }),
  )
  clock.tick(day - 60_000)
  notified()
  await remindDue(service.service)
  expect(notified()).toEqual([grace.user, alan.user])
})

test('nobody whom another program marked as away is left out', async () => {
  await leave(ada)
  await service.runSql(`UPDATE absences SET user_id = ${grace.user}`)
  await asked('@sre')
  expect(notified()).toEqual([ada.user, grace.user, alan.user])
})

const tested = async () => {
  const answer = await service.call('POST', `/svc/v1/organizations/${acme.id}/rule-tests`, {
    body: { type: 'text', text: 'Deploy' },
  })
  const { lines, completable } = dataOf(answer)
  expect(completable).toBe(true)
  return lines[0].people.map(({ user_id, away_until, notified: told, excluded }: Record<string, unknown>) => [
    user_id,
    excluded,
    away_until,
    told,
  ])
}

test('a rule test says who is away, and whether they would be notified', async () => {
  await leave(ada)
  const body = { name: 'all', match: { type: 'text' }, who: ['@sre:2'] }
  dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/rules`, { body }))
  expect(await tested()).toEqual([
    [ada.user, null, at(7), false],
    [grace.user, null, null, true],
    [alan.user, null, null, true],
  ])
  await leave(grace)
  expect((await tested()).map(([, , , told]: unknown[]) => told)).toEqual([true, true, true])
})

test('a group shows who is away now', async () => {
  await leave(ada)
  await leave(admin)
  await leave(alan, { from: at(1) })
  const path = `/svc/v1/organizations/${acme.id}/groups/sre`
  expect(dataOf(await service.call('GET', path)).away).toEqual([{ user_id: ada.user, until: at(7) }])
})

test('the administrators whom a change of groups needs are asked even if all are away', async () => {
  const body = { name: 'rules', org_id: acme.id, scopes: ['rules', 'ask'] }
  const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
  await leave(admin)
  const path = `/svc/v1/organizations/${acme.id}/groups`
  const held = await service.call('POST', path, { key, body: { name: 'new', members: [ada.user] } })
  expect(refusal(held)[1]).toBe('approval_required')
  expect(notified()).toEqual([admin.user])
})
