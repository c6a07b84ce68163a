import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide, enroll } from '../approver.ts'
import { createMember, createTenant, dataOf, refusal, refusedWithoutTrace, twinText } from '../fixtures.ts'

installHooks()

let grace: Approver
let ci: { id: string; key: string }
beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
  ci = await createKey({ name: 'ci', scopes: ['ask'], owner_user_id: ada.id })
  const body = { name: 'sre', members: [ada.id, grace.id] }
  dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/groups`, { body }))
})

const createKey = async (fields: object) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { org_id: acme.id, ...fields } }))
const confirm = (id: string, { approval, key }: { approval?: string; key?: string | undefined } = {}) =>
  service.call('POST', `/svc/v1/keys/${id}/confirm-owner`, {
    key,
    ...(approval !== undefined && { headers: { 'x-svc-approval': approval } }),
  })
const requestOf = async (id: string, key?: string): Promise<string> => {
  const { status, body } = await confirm(id, { key })
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  return body.data.request.request_id
}
/** Lets Ada confirm the key, as a caller that repeats the call does. */
const confirmAsAda = async (id = ci.id): Promise<void> => {
  const approval = await requestOf(id)
  dataOf(await decide(service, approval, ada.key))
  dataOf(await confirm(id, { approval }))
}
const asked = async (key = ci.key) =>
  dataOf(
    await service.call('POST', '/svc/v1/approvals', { key, body: { action: 'Deploy', approvers: ['@sre'] } }),
  )
const peopleOf = ({ lines: [line] }: { lines: { people: { user_id: string }[] }[] }): string[] =>
  line!.people.map(({ user_id }) => user_id)

describe('the owner of a key', () => {
  test('is a claim that excludes nobody until they confirm it', async () => {
    const before = await asked()
    expect([before.key_owner.confirmed, peopleOf(before)]).toEqual([false, [ada.id, grace.id]])
    await confirmAsAda()
    const after = await asked()
    expect([after.key_owner.confirmed, peopleOf(after)]).toEqual([true, [grace.id]])
  })

  test('reads which key it is and what it can do, and the operator needs their yes too', async () => {
    const id = await requestOf(ci.id)
    const { subject, lines } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    expect(peopleOf({ lines })).toEqual([ada.id])
    expect(subject.summary).toBe('Confirm key owner in acme: ci')
    expect(subject.data.body).toMatchObject({
      name: 'ci',
      scopes: ['ask'],
      owner: twinText(ada.id),
    })
  })

  test('who denies it stays a claim', async () => {
    const id = await requestOf(ci.id)
    dataOf(await decide(service, id, ada.key, { decision: 'deny' }))
    expect((await confirm(ci.id, { approval: id })).status).toBe(409)
    expect(dataOf(await service.call('GET', `/svc/v1/keys/${ci.id}`)).owner_confirmed_at).toBeNull()
  })

  test('is not asked about a key that another program has changed', async () => {
    await service.runSql(`UPDATE api_keys SET name = 'laptop' WHERE id = ${ci.id}`)
    expect(refusal(await confirm(ci.id))).toEqual([409, 'key_not_authentic', []])
  })

  test('stays confirmed when the key is rotated', async () => {
    await confirmAsAda()
    const { key, owner_confirmed_at } = dataOf(await service.call('POST', `/svc/v1/keys/${ci.id}/rotate`))
    expect(owner_confirmed_at).not.toBeNull()
    expect(peopleOf(await asked(key))).toEqual([grace.id])
  })

  test('excludes nobody if another program wrote the confirmation into the store', async () => {
    const forged = { owner_confirmed_at: '2030-01-01T00:00:00.000Z' }
    await service.storage.write((db) => db.updateTable('api_keys').set(forged).execute(), { org: null })
    const answer = await service.call('POST', '/svc/v1/approvals', {
      key: ci.key,
      body: { action: 'Deploy', approvers: ['@sre'] },
    })
    expect(answer.status).toBe(401)
  })
})

test('a key without an owner, of another organization or of the whole service cannot be confirmed', async () => {
  const plain = await createKey({ name: 'plain', scopes: ['ask'] })
  const whole = dataOf(
    await service.call('POST', '/svc/v1/keys', {
      body: { name: 'w', scopes: ['read'], owner_user_id: ada.id },
    }),
  )
  for (const { id } of [plain, whole])
    expect(await refusedWithoutTrace(service, () => confirm(id))).toEqual([409, 'key_without_owner', []])
  const other = await createTenant(service, 'other')
  const { key } = dataOf(
    await service.call('POST', '/svc/v1/keys', { body: { name: 'k', org_id: other.id, scopes: ['keys'] } }),
  )
  expect(refusal(await confirm(ci.id, { key }))).toEqual([404, 'not_found', []])
})

test('a key cannot confirm through a phone that goes back to the key itself', async () => {
  const admin = await createKey({ name: 'admin', scopes: ['keys', 'people', 'devices', 'ask'] })
  const { id } = await createMember(service, acme.id, 7)
  await enroll(service, acme.id, id, 'ES256', admin.key)
  const claimed = await createKey({ name: 'claimed', scopes: ['ask'], owner_user_id: id })
  expect(refusal(await confirm(claimed.id, { key: admin.key }))).toEqual([409, 'not_enough_approvers', []])
})
