import { beforeEach, describe, expect, test } from 'vitest'
import { type Approver, decide, enroll } from '../approver.ts'
import { createMember, dataOf, refusal, refusedWithoutTrace, twinText } from '../fixtures.ts'
import { acme, ada, alan, create, grace, installHooks, membersOf, service, show } from './groups-stage.ts'

installHooks()

let eve: Pick<Approver, 'id' | 'key'>
let rules: string
beforeEach(async () => {
  const { id } = await createMember(service, acme.id, 5)
  dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: id } }))
  eve = { id, ...(await enroll(service, acme.id, id)) }
  const body = { name: 'rules', org_id: acme.id, scopes: ['rules', 'ask'] }
  rules = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
  dataOf(await create('sre', [ada.id]))
  dataOf(await create('dba', [grace.id]))
})

type Groups = { name: string; members: string[] }[]
const set = (groups: Groups, { key, approval }: { key?: string; approval?: string | undefined } = {}) =>
  service.call('POST', `/svc/v1/organizations/${acme.id}/rule-changes`, {
    key,
    body: { groups },
    ...(approval !== undefined && { headers: { 'x-svc-approval': approval } }),
  })
const changes = (): Groups => [
  { name: 'sre', members: [ada.id, alan.id] },
  { name: 'dba', members: [] },
  { name: 'new', members: [alan.id] },
]
const isChanged = async (): Promise<boolean> =>
  (await membersOf('sre')).length === 2 && (await show('dba')).status === 404

describe('several groups', () => {
  test('are changed by one call of the operator', async () => {
    expect(dataOf(await set(changes())).groups.map(({ name }: { name: string }) => name)).toEqual([
      'sre',
      'new',
      'dba',
    ])
    expect([await isChanged(), await membersOf('new')]).toEqual([true, [alan.id]])
  })

  test('are each named once, so that no change hides behind another one', async () => {
    const twice = [
      { name: 'sre', members: [alan.id] },
      { name: 'sre', members: [ada.id, alan.id] },
    ]
    const answer = await set(twice, { key: rules })
    expect([answer.status, answer.body.data.issues]).toEqual([
      422,
      [{ field: 'groups', message: 'must name each once: "sre"' }],
    ])
  })

  test('are changed with one request, which a member of each and an administrator approve', async () => {
    const asked = await set(changes(), { key: rules })
    expect([asked.status, asked.body.data.code]).toEqual([403, 'approval_required'])
    const { request_id, lines } = asked.body.data.request
    const people = lines.map((line: { people: { user_id: string }[] }) =>
      line.people.map((one) => one.user_id),
    )
    expect(people.toSorted()).toEqual([[ada.id], [grace.id], [eve.id]].toSorted())
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
    const [adaText, alanText] = [ada, alan].map(({ id }) => twinText(id))
    expect(subject.data).toMatchObject({
      body: { 'group.sre': [adaText, alanText], 'group.dba': [], 'group.new': [alanText] },
      before: { 'group.sre': [adaText], 'group.dba': [twinText(grace.id)] },
    })
    for (const { key } of [ada, grace]) dataOf(await decide(service, request_id, key))
    expect((await set(changes(), { key: rules, approval: request_id })).status).toBe(409)
    dataOf(await decide(service, request_id, eve.key))
    dataOf(await set(changes(), { key: rules, approval: request_id }))
    expect(await isChanged()).toBe(true)
  })

  test('stay as they are if one of the changes is not possible', async () => {
    const { id } = await createMember(service, acme.id, 9)
    const wrong = [...changes(), { name: 'other', members: [id] }]
    expect(await refusedWithoutTrace(service, () => set(wrong))).toEqual([409, 'member_not_enrolled', []])
    expect(refusal(await set([{ name: 'none', members: [] }]))).toEqual([404, 'not_found', []])
    expect(await isChanged()).toBe(false)
  })
})

const rename = async (first_name: string, last_name: string): Promise<void> => {
  const path = `/organization/${acme.id}/update/user/${alan.id}`
  dataOf(await service.call('PUT', path, { body: { first_name, last_name } }))
}

test('a name cannot say that somebody else is in a group, before the approval or after it', async () => {
  const asked = (members: string[]) => set([{ name: 'new', members }], { key: rules })
  const forged = [`Ada Lovelace (user ${ada.id}), Ada`, 'Lovelace'] as const
  const { request } = (await asked([ada.id, alan.id])).body.data
  for (const { user_id } of request.lines[0].people)
    dataOf(await decide(service, request.request_id, [eve, ada].find(({ id }) => id === user_id)!.key))
  await rename(...forged)
  const fewer = await set([{ name: 'new', members: [alan.id] }], { key: rules, approval: request.request_id })
  expect(refusal(fewer)).toEqual([422, 'other_subject', ['digest']])
  const { request_id } = (await asked([alan.id])).body.data.request
  const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
  expect(subject.data.body['group.new']).toEqual([`"${forged.join(' ')}" (user ${alan.id}, ••••••••0103)`])
})

const addRule = (approval?: string) =>
  service.call('POST', `/svc/v1/organizations/${acme.id}/rules`, {
    key: rules,
    body: { name: 'r', match: { type: 'text' }, who: ['@ops'], break_glass: '@sre' },
    ...(approval !== undefined && { headers: { 'x-svc-approval': approval } }),
  })

test('the yes to a rule is good only for the members of its groups who were shown', async () => {
  dataOf(await create('ops', [grace.id, alan.id]))
  const { request_id } = (await addRule()).body.data.request
  const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
  const [adaText, graceText, alanText] = [ada, grace, alan].map(({ id }) => twinText(id))
  expect(subject.data.body.asks).toEqual([`ops: ${graceText}, ${alanText}`, `sre: ${adaText}`])
  dataOf(await decide(service, request_id, eve.key))
  dataOf(await set([{ name: 'ops', members: [ada.id, alan.id] }]))
  expect(refusal(await addRule(request_id))).toEqual([422, 'other_subject', ['digest']])
  dataOf(await set([{ name: 'ops', members: [grace.id, alan.id] }]))
  dataOf(await addRule(request_id))
})
