import { describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide, enroll } from '../approver.ts'
import { createMember, dataOf, refusedWithoutTrace } from '../fixtures.ts'

installHooks()

const policy = async (changes: object) =>
  dataOf(
    await service.call('PUT', `/organization/${acme.id}/update`, {
      body: { policy: changes },
    }),
  )
const keyFor = async (body: object) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: 'asks', org_id: acme.id, ...body } }))
    .key as string
const claimsOf = async (key?: string) => {
  const { request_id } = dataOf(await ask(service, ada, {}, key))
  return dataOf(await decide(service, request_id, ada.key)).attestation.claims
}

describe('a receipt', () => {
  test('says whether the requesting key could influence who approves', async () => {
    expect(await claimsOf(acme.key)).toMatchObject({ influences: true })
    const askKey = await keyFor({ scopes: ['ask'] })
    expect(await claimsOf(askKey)).toMatchObject({
      influences: false,
      key: { name: 'asks', scopes: ['ask'] },
      organization: { slug: 'acme' },
    })
  })
})

describe('the policy separation strict', () => {
  test('refuses a key that can influence who approves, before anybody is notified', async () => {
    await policy({ separation: 'strict' })
    expect(await refusedWithoutTrace(service, () => ask(service, ada, {}, acme.key))).toEqual([
      403,
      'not_separated',
      [],
    ])
  })

  test('does not apply to the operator, who is trusted', async () => {
    await policy({ separation: 'strict' })
    expect(await claimsOf()).toMatchObject({ influences: true })
  })

  test('applies to requests from before it was set', async () => {
    const { request_id } = dataOf(await ask(service, ada, {}, acme.key))
    await policy({ separation: 'strict' })
    const { status, body } = await decide(service, request_id, ada.key)
    expect([status, body.data.code]).toEqual([403, 'not_separated'])
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied.status).toBe('denied')
  })

  test('refuses an approver if the creator of the key enrolled all their devices, before anybody is notified', async () => {
    const asks = dataOf(
      await service.call('POST', '/svc/v1/keys', { key: acme.key, body: { name: 'mine', scopes: ['ask'] } }),
    ).key as string
    const bob = await createMember(service, acme.id, 2)
    await enroll(service, acme.id, bob.id, 'ES256', acme.key)
    await policy({ separation: 'strict' })
    // The operator enrolled the device of Ada.
    expect((await ask(service, ada, {}, asks)).status).toBe(200)
    const askBob = () => ask(service, bob, {}, asks)
    expect(await refusedWithoutTrace(service, askBob)).toEqual([409, 'approver_not_separated', []])
    await policy({ separation: 'standard' })
    expect((await askBob()).status).toBe(200)
  })

  test('ends with standard', async () => {
    await policy({ separation: 'strict' })
    await policy({ separation: 'standard' })
    expect(await claimsOf(acme.key)).toMatchObject({ influences: true })
  })
})

describe('the policy not_requester', () => {
  test('refuses the owner of the requesting key as the approver', async () => {
    const key = await keyFor({ scopes: ['ask'], owner_user_id: ada.id })
    const { request_id } = dataOf(await ask(service, ada, {}, key))
    await policy({ not_requester: true })
    expect(await refusedWithoutTrace(service, () => ask(service, ada, {}, key))).toEqual([
      403,
      'approver_is_requester',
      [],
    ])
    expect((await decide(service, request_id, ada.key)).body.data.code).toBe('approver_is_requester')
    expect(await claimsOf(await keyFor({ name: 'of nobody', scopes: ['ask'] }))).toMatchObject({
      influences: false,
    })
  })
})
