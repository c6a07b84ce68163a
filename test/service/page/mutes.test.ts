import { beforeEach, describe, expect, test } from 'vitest'
import { ask } from '../approver.ts'
import { minute } from '../clock.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { mutes, pending, report, request, statusOf, unmute } from './denials.ts'
import { answerTo, confirmed, createPhone, fromPhone, type Phone } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

const all = ({ cookie }: Phone) => fromPhone(service, 'GET', 'organization/mutes', { cookie })

describe('a mute', () => {
  let first: string
  beforeEach(async () => {
    first = await request()
    await report(first)
  })

  test('is listed until it ends', async () => {
    expect(await mutes()).toEqual([
      {
        mute_id: expect.stringMatching(/^\d+$/),
        org_id: acme.id,
        user_id: ada.user,
        key_id: expect.any(String),
        credential: 'of acme',
        requester: null,
        until: new Date(clock.now().getTime() + 20 * minute).toISOString(),
      },
    ])
    clock.tick(20 * minute)
    expect(await mutes(await confirmed(service, ada))).toEqual([])
  })

  test('is lifted by a signature; the requester can ask again and nothing revives', async () => {
    const [{ mute_id }] = await mutes()
    expect(refusal(await ask(service, ada, {}, acme.key))[1]).toBe('muted')
    dataOf(await unmute(mute_id))
    expect(await mutes()).toEqual([])
    expect(await statusOf(first)).toMatchObject({ status: 'denied' })
    expect(await pending()).toEqual([])
    await request()
    expect(refusal(await unmute(mute_id))).toEqual([404, 'not_found', []])
  })

  test('is seen and lifted by an administrator of the organization', async () => {
    const [{ mute_id }] = await mutes()
    const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
    expect(refusal(await all(ada))).toEqual([403, 'admin_only', []])
    const { mutes: found } = dataOf(await all(admin))
    expect(found).toMatchObject([{ mute_id, user_id: ada.user, member: { first_name: 'Ada' } }])
    const lift = async ({ cookie, key }: Phone) => {
      const begun = await fromPhone(service, 'POST', `mutes/${mute_id}/challenge`, {
        cookie,
        body: { user_id: ada.user },
      })
      const { challenge } = dataOf(begun)
      const body = { user_id: ada.user, challenge, response: answerTo(challenge, key) }
      return fromPhone(service, 'POST', `mutes/${mute_id}/end`, { cookie, body })
    }
    const bob = await createPhone(service, acme.id, 3)
    expect(refusal(await lift(bob))).toEqual([403, 'admin_only', []])
    const globex = await createTenant(service, 'globex')
    const eve = await createPhone(service, globex.id, 4, { role: 'admin' })
    expect(refusal(await lift(eve))).toEqual([404, 'not_found', []])
    expect(dataOf(await all(eve)).mutes).toEqual([])
    dataOf(await lift(admin))
    expect(await mutes()).toEqual([])
  })

  test('is lifted by nobody else, and not by a signature for another mute', async () => {
    const [{ mute_id }] = await mutes()
    const bob = await createPhone(service, acme.id, 2)
    expect(refusal(await unmute(mute_id, { by: bob, signer: bob }))).toEqual([404, 'not_found', []])
    expect(refusal(await unmute(mute_id, { signer: bob }))[0]).toBe(403)
    expect(refusal(await unmute(mute_id, { of: '99' }))[0]).toBe(410)
    expect(await mutes()).toHaveLength(1)
  })

  test('holds the keys below the muted one, which cannot lift it, and not another', async () => {
    const child = { name: 'child', org_id: acme.id, scopes: ['ask', 'people'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { key: acme.key, body: child }))
    expect(refusal(await ask(service, ada, {}, key))[1]).toBe('muted')
    const [{ mute_id }] = await mutes()
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.user}/mutes/${mute_id}`
    expect(refusal(await service.call('DELETE', path, { key }))).toEqual([403, 'own_mute', []])
    const other = { name: 'other', org_id: acme.id, scopes: ['ask'] }
    dataOf(
      await ask(service, ada, {}, dataOf(await service.call('POST', '/svc/v1/keys', { body: other })).key),
    )
  })

  test('is lifted by an administrator’s key, but not by the muted key itself', async () => {
    const listed = dataOf(
      await service.call('GET', `/svc/v1/organizations/${acme.id}/mutes`, { key: acme.key }),
    )
    expect(listed).toMatchObject([{ user_id: ada.user, credential: 'of acme' }])
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.user}/mutes/${listed[0].mute_id}`
    expect(refusal(await service.call('DELETE', path, { key: acme.key }))).toEqual([403, 'own_mute', []])
    const body = { name: 'people', org_id: acme.id, scopes: ['people'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    dataOf(await service.call('DELETE', path, { key }))
    await request()
    expect(refusal(await service.call('DELETE', path, { key }))).toEqual([404, 'not_found', []])
  })
})
