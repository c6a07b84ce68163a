import { describe, expect, test } from 'vitest'
import { readContext } from '../../../src/receipt/context.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask, ceremonyOf, decide, post, signed } from '../approver.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'

installHooks()

const member = async (n: number, first_name: string, last_name: string) =>
  createMember(service, acme.id, n, { first_name, last_name })
const keyOf = async (owner?: string): Promise<string> =>
  dataOf(
    await service.call('POST', '/svc/v1/keys', {
      body: {
        name: `asks ${owner}`,
        org_id: acme.id,
        scopes: ['ask'],
        ...(owner && { owner_user_id: owner }),
      },
    }),
  ).key
const requested = async (owner?: string) => dataOf(await ask(service, ada, {}, await keyOf(owner)))

describe('the owner of a requesting key', () => {
  test('is named in separate fields: user id, name, masked number, and whether a device confirmed it', async () => {
    const eve = await member(9, 'Ada L', '(user 1, ••••••••0101)')
    expect((await requested(eve.id)).key_owner).toEqual({
      user_id: eve.id,
      name: 'Ada L (user 1, ••••••••0101)',
      mobile: '••••••••0109',
      confirmed: false,
      twin: false,
    })
  })

  test('is absent if the key has none, or its owner is not an active member', async () => {
    expect(await requested()).not.toHaveProperty('key_owner')
    const eve = await member(9, 'Eve', 'M')
    const key = await keyOf(eve.id)
    dataOf(await service.call('POST', `/organization/${acme.id}/user/${eve.id}/pending`, { body: {} }))
    expect((await ask(service, ada, {}, key)).body.data).not.toHaveProperty('key_owner')
  })

  test('is part of what the approver signs, and of the receipt', async () => {
    const eve = await member(9, 'Eve', 'M')
    const { request_id, key_owner } = await requested(eve.id)
    const { contexts } = await ceremonyOf(service, request_id)
    const { key } = readContext(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    expect(key.owner).toEqual(key_owner)
    const { attestation } = dataOf(await decide(service, request_id, ada.key))
    expect(attestation.claims.key.owner).toEqual(key_owner)
  })

  test('cannot be changed by another program', async () => {
    const eve = await member(9, 'Eve', 'M')
    const { request_id, key_owner } = await requested(eve.id)
    const forged = JSON.stringify({ ...key_owner, name: 'Grace Hopper' })
    const response = await signed(service, request_id, 'approve', ada.key)
    await service.runSql('UPDATE approvals SET key_owner = ?', [forged])
    const answer = await post(service, request_id, { decision: 'approve', response })
    expect(refusal(answer)).toEqual([403, 'request_not_authentic', []])
  })
})

describe('an owner with a twin', () => {
  test.each([
    ['the same name', 'Grace', 'Hopper'],
    ['other case and spaces', 'gRACE', ' hopper'],
    ['full-width letters', 'Ｇｒａｃｅ', 'Hopper'],
    ['a Cyrillic letter', 'Grасe', 'Hopper'],
    ['a name that is divided elsewhere', 'Grace Hop', 'per'],
  ])('is marked: another active member has %s', async (_, first_name, last_name) => {
    const grace = await member(7, 'Grace', 'Hopper')
    const eve = await member(9, 'Eve', 'M')
    const path = `/organization/${acme.id}/update/user/${eve.id}`
    dataOf(await service.call('PUT', path, { body: { first_name } }))
    dataOf(await service.call('PUT', path, { body: { last_name } }))
    for (const { id } of [grace, eve]) {
      const { key_owner } = dataOf(await ask(service, ada, {}, await keyOf(id)))
      expect(key_owner).toMatchObject({ user_id: id, twin: true })
    }
  })

  test('is marked while the other one is on hold', async () => {
    const grace = await member(7, 'Grace', 'Hopper')
    const held = await member(9, 'Grace', 'Hopper')
    dataOf(await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`))
    expect((await requested(grace.id)).key_owner).toMatchObject({ twin: true })
  })

  test('is not marked for a former member, or a member of another organization', async () => {
    const grace = await member(7, 'Grace', 'Hopper')
    const former = await member(9, 'Grace', 'Hopper')
    dataOf(
      await service.call('POST', '/organization/remove/user', {
        body: { org_id: acme.id, user_id: former.id },
      }),
    )
    const { id } = dataOf(
      await service.call('POST', '/organization/create', { body: { name: 'Globex', slug: 'globex' } }),
    )
    await createMember(service, id, 10, { first_name: 'Grace', last_name: 'Hopper' })
    expect((await requested(grace.id)).key_owner).toMatchObject({ twin: false })
  })
})
