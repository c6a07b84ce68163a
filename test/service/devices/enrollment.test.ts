import { describe, expect, test } from 'vitest'
import { enroll } from '../approver.ts'
import { auditOf, contentsOf, createMember, dataOf, refusal } from '../fixtures.ts'
import { acme, ada, installHooks, open, revoke, service, start } from '../enrollment.ts'

installHooks()

const startWithKey = () =>
  service.call('POST', `/svc/v1/organizations/${acme.id}/users/${ada.id}/enrollments`, {
    body: {},
    headers: { 'idempotency-key': 'e1' },
  })

describe('an enrollment', () => {
  test('is a link to the approver page that works in a browser', async () => {
    const data = dataOf(await start())
    expect(data).toEqual({
      url: `http://127.0.0.1:8080/approver#enroll=${data.token}`,
      token: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: '2030-01-31T12:10:00.000Z',
      origin: 'http://localhost:8080',
      rp_id: 'localhost',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      user_handle: expect.stringMatching(/^[\w-]{22}$/),
      proof: 'link',
    })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'createEnrollment',
      `user:${ada.id}`,
      ['enrollment'],
    ])
  })

  test('is not stored in clear, nor returned to a repeat', async () => {
    const { token } = dataOf(await startWithKey())
    expect(JSON.stringify(await contentsOf(service))).not.toContain(token)
    const again = await startWithKey()
    expect(dataOf(again)).toMatchObject({ secret_already_shown: true })
    expect(JSON.stringify(again.body)).not.toContain(token)
  })

  test('is for an active user only', async () => {
    await service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} })
    expect(refusal(await start())).toEqual([409, 'user_pending', []])
    expect(refusal(await start('99'))).toEqual([404, 'not_found', []])
  })

  test.each(['https://192.0.2.7:8443', 'https://[2001:db8::1]', 'http://svc.example.com'])(
    'needs a name and https, and not %s',
    async (publicUrl) => {
      service.service.publicUrl = publicUrl
      expect(refusal(await start())).toEqual([409, 'public_url_needed', []])
    },
  )

  test('keeps the relying party of the first one as long as a device is bound to it', async () => {
    await service.close()
    await open({ publicUrl: 'https://svc.example.com' })
    const { device } = await enroll(service, acme.id, ada.id)
    service.service.publicUrl = 'https://eu.svc.example.com'
    expect(dataOf(await start())).toMatchObject({
      rp_id: 'svc.example.com',
      origin: 'https://eu.svc.example.com',
    })
    service.service.publicUrl = 'https://other.example.com'
    const answer = await start()
    expect(refusal(answer)).toEqual([409, 'rp_id_kept', []])
    expect(answer.body.data.hint).toContain('--public-url https://svc.example.com')
    await revoke(device)
    expect(dataOf(await start())).toMatchObject({
      rp_id: 'other.example.com',
      origin: 'https://other.example.com',
    })
  })

  test('has one user handle for all devices of a member', async () => {
    await enroll(service, acme.id, ada.id)
    const handles = [dataOf(await start()).user_handle, dataOf(await start()).user_handle]
    expect(new Set(handles).size).toBe(1)
    const bob = await createMember(service, acme.id, 2)
    expect(handles).not.toContain(dataOf(await start(bob.id)).user_handle)
  })
})
