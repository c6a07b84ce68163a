import { beforeEach, describe, expect, test } from 'vitest'
import type { Phone } from '../page/phone.ts'
import { ask, decide, show } from '../approver.ts'
import { dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { callTools, connect } from '../mcp/oauth-client.ts'
import { call } from '../mcp/http-tools.ts'
import { createRule } from '../rule-fixture.ts'
import {
  acme,
  createKey,
  createUser,
  enrollWith,
  installHooks,
  moveUser,
  outcomeOf,
  registerPhone,
  sentToken,
  service,
  setPolicy,
} from './one-key.ts'

// The policy not_requester: nobody approves what their own key, or a key that it created, requests.

installHooks()

let ada: Phone
let bob: Phone
let adas: { id: string; key: string }
beforeEach(async () => {
  ada = await enrollWith(await createUser(1, service.operatorKey), service.operatorKey)
  bob = await enrollWith(await createUser(2, service.operatorKey), service.operatorKey)
  adas = await createKey(['all'], service.operatorKey, { owner_user_id: ada.user })
})

const own = { refused: 'approver_is_requester' }
const approved = { relation: 'operator', failed: [] }

describe('the owner of a key', () => {
  test('cannot approve what a key that it created requests, however far below', async () => {
    const child = await createKey(['ask', 'keys'], adas.key)
    const grandchild = await createKey(['ask'], child.key, { owner_user_id: bob.user })
    await setPolicy({ not_requester: true })
    expect(await refusedWithoutTrace(service, () => ask(service, ada, {}, grandchild.key))).toEqual([
      403,
      'approver_is_requester',
      [],
    ])
    expect(await outcomeOf({ key: grandchild.key }, bob)).toEqual(own)
    await setPolicy({ not_requester: false })
    expect(await outcomeOf({ key: grandchild.key }, ada)).toEqual(approved)
  })

  test('cannot decide a request from before the policy was set', async () => {
    const child = await createKey(['ask'], adas.key)
    const { request_id } = dataOf(await ask(service, ada, {}, child.key))
    await setPolicy({ not_requester: true })
    expect(refusal(await decide(service, request_id, ada.key))).toEqual([403, 'approver_is_requester', []])
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied.status).toBe('denied')
  })

  test('cannot approve after the key or the child was rotated, or after the key was revoked', async () => {
    const child = await createKey(['ask'], adas.key)
    const rotated = dataOf(
      await service.call('POST', `/svc/v1/keys/${child.id}/rotate`, { key: adas.key, body: {} }),
    )
    const renewed = dataOf(
      await service.call('POST', `/svc/v1/keys/${adas.id}/rotate`, { key: adas.key, body: {} }),
    )
    const younger = await createKey(['ask'], renewed.key)
    await setPolicy({ not_requester: true })
    for (const { key } of [child, rotated, younger]) expect(await outcomeOf({ key }, ada)).toEqual(own)
  })

  test('can approve what the key above requests, and others what the key below requests', async () => {
    const above = await createKey(['all'])
    const below = await createKey(['ask'], above.key, { owner_user_id: ada.user })
    const asks = await createKey(['ask'], above.key)
    await setPolicy({ not_requester: true })
    expect(await outcomeOf({ key: asks.key }, ada)).toEqual(approved)
    expect(await outcomeOf({ key: below.key }, bob)).toEqual(approved)
  })

  test('cannot approve for an agent of a person whose phone that key enrolled', async () => {
    const phone = await enrollWith(await createUser(3, adas.key), adas.key)
    const agent = await connect(service, phone)
    await setPolicy({ not_requester: true })
    expect((await outcomeOf({ agent }, ada)) as { refused: string }).toMatchObject({
      refused: expect.stringContaining('belongs to the approver'),
    })
    expect(await outcomeOf({ agent }, bob)).toEqual(approved)
  })
})

test('the person who connected an agent cannot approve what it requests', async () => {
  const agent = await connect(service, ada)
  await setPolicy({ not_requester: true })
  expect(await outcomeOf({ agent }, ada)).toMatchObject({
    refused: expect.stringContaining('belongs to the approver'),
  })
  expect(await outcomeOf({ agent }, bob)).toEqual(approved)
})

test('an administrator cannot approve for somebody whom they let in on the page', async () => {
  const admin = await enrollWith(
    await createUser(4, service.operatorKey, { role: 'admin' }),
    service.operatorKey,
  )
  const nina = await createUser(5, service.operatorKey)
  dataOf(await moveUser(admin, nina.id, 'link'))
  const agent = await connect(service, await registerPhone(nina, await sentToken()))
  await createRule(service, acme.id, { members: [admin.user, bob.user], match: { type: 'text' } })
  const { text } = await callTools(service, agent, call('request_approval_async', { action: 'Deploy' }))
  const asked = dataOf(await show(service, /apr_[\w-]{24}/.exec(text)![0]))
  expect(asked.lines.at(-1).people.map(({ user_id }: { user_id: string }) => user_id)).toEqual([bob.user])
  const { excluded } = await service.storage.read((db) =>
    db
      .selectFrom('approvals')
      .where('request_id', '=', asked.request_id)
      .select('excluded')
      .executeTakeFirstOrThrow(),
  )
  expect(excluded).toContain('stands behind the requester')
  await setPolicy({ not_requester: true })
  expect(await outcomeOf({ agent }, admin)).toMatchObject({
    refused: expect.stringContaining('belongs to the approver'),
  })
})

test('nobody approves what a key requests after another program changed a key above it', async () => {
  const child = await createKey(['ask'], adas.key)
  await service.runSql(`UPDATE api_keys SET owner_user_id = NULL WHERE id = ${adas.id}`)
  await setPolicy({ not_requester: true })
  expect(await outcomeOf({ key: child.key }, bob)).toEqual({ refused: 'requester_unknown' })
})
