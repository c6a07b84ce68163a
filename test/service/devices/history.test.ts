import { beforeEach, describe, expect, test } from 'vitest'
import { changeDeviceRows } from '../../../src/service/devices/rows.ts'
import { createPhone, enrollPhone, type Phone } from '../page/phone.ts'
import { ask, decide, post, signed } from '../approver.ts'
import { contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { acme, clock, installHooks, service } from '../acme.ts'
import { signIn } from './moves.ts'

installHooks()

let ada: Phone
beforeEach(async () => {
  ada = await createPhone(service, acme.id, 1)
})

const erase = async () => {
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`))
  expect(JSON.stringify(await contentsOf(service))).not.toContain(ada.mobile)
}
const remove = async () => {
  const body = { org_id: acme.id, user_id: ada.user }
  dataOf(await service.call('POST', '/organization/remove/user', { body }))
}
const create = () => createMember(service, acme.id, 1)

describe.each([
  ['deleted', erase],
  ['removed', remove],
])('who was %s and is created again', (_, leave) => {
  test('has the same id, and a new device is a recovery', async () => {
    await leave()
    expect(await create()).toMatchObject({ id: ada.user })
    const phone = await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
    expect(refusal(await signIn(service, phone.key))).toEqual([403, 'device_pending', []])
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.user}/devices`
    expect(dataOf(await service.call('GET', path))).toMatchObject([
      { state: 'revoked', proof: 'link' },
      { state: 'pending', proof: 'admin' },
    ])
    expect(refusal(await signIn(service, ada.key))).toEqual([403, 'device_revoked', []])
  })

  test('keeps their mutes', async () => {
    const { request_id } = dataOf(await ask(service, ada))
    dataOf(await decide(service, request_id, ada.key, { decision: 'deny', not_me: true }))
    await leave()
    await create()
    const { storage, keyring } = service
    await storage.write(
      (db) => changeDeviceRows({ db, keyring }, { state: 'active' }, (devices) => devices),
      { org: 0 },
    )
    expect(refusal(await ask(service, ada))).toEqual([429, 'muted', []])
  })

  test('keeps the limits of requests to them', async () => {
    for (let at = 0; at < 3; at++) {
      const { request_id } = dataOf(await ask(service, ada))
      dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    }
    const before = (await contentsOf(service)).approvals!.length
    await leave()
    await create()
    const { approvals, ballots } = await contentsOf(service)
    expect(approvals).toHaveLength(before)
    for (const row of approvals!) expect(row).toMatchObject({ status: 'denied' })
    for (const row of ballots!) expect(row).toMatchObject({ user_id: Number(ada.user) })
  })
})

describe('deleting a user', () => {
  test('ends pending requests, wakes waiting callers, and hides the requests', async () => {
    const { request_id } = dataOf(await ask(service, ada, { action: 'Deploy 4.2', reason: 'release day' }))
    const response = await signed(service, request_id, 'approve', ada.key)
    await erase()
    const kept = JSON.stringify(await contentsOf(service))
    expect(kept).not.toContain('Deploy 4.2')
    expect(kept).not.toContain('release day')
    expect(refusal(await service.call('GET', `/svc/v1/approvals/${request_id}`))).toEqual([
      404,
      'not_found',
      [],
    ])
    expect(dataOf(await service.call('GET', '/svc/v1/approvals'))).toEqual([])
    expect((await contentsOf(service)).approvals).toMatchObject([{ status: 'expired', action: '' }])
    await create()
    const late = await post(service, request_id, { decision: 'approve', response })
    expect(refusal(late)).toEqual([404, 'not_found', []])
  })

  test('ends verifications, even if the same id is used again', async () => {
    const body = { org_id: acme.id, user_id: ada.user }
    const { auth_token } = dataOf(await service.call('POST', '/generate-auth-token', { body }))
    await erase()
    await create()
    const unspent = (await contentsOf(service)).verifications as { expires_at: string }[]
    expect(auth_token).toBeDefined()
    expect(unspent.every(({ expires_at }) => expires_at <= clock.iso())).toBe(true)
  })

  test('does not change another organization of the person', async () => {
    const other = await createTenant(service, 'other')
    const there = await createPhone(service, other.id, 1)
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`))
    dataOf(await signIn(service, there.key))
    expect(refusal(await signIn(service, ada.key))).toEqual([403, 'not_a_member', []])
  })

  test('leaves nothing once its organization is deleted', async () => {
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete`))
    const { devices, erased_people, people } = await contentsOf(service)
    expect([devices, erased_people, people]).toEqual([[], [], []])
  })

  test('leaves nothing of a user without history', async () => {
    const bob = await createMember(service, acme.id, 2)
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${bob.id}`))
    expect((await contentsOf(service)).erased_people).toEqual([])
    expect((await createMember(service, acme.id, 2)).id).not.toBe(bob.id)
  })
})
