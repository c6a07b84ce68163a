import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { show } from '../approver.ts'
import { minute } from '../clock.ts'
import {
  auditOf,
  contentsOf,
  createMember,
  createTenant,
  dataOf,
  refusal,
  refusedWithoutTrace,
} from '../fixtures.ts'
import { save, token } from './verification.ts'

installHooks()

describe('POST /generate-auth-token and GET /save/faceauth/success/{auth_token}', () => {
  test('record the claim of the caller as such, once, without a receipt', async () => {
    const { auth_token, ...data } = dataOf(await token())
    const expires_at = new Date(Date.parse(clock.iso()) + 10 * minute).toISOString()
    expect(data).toEqual({ request_id: expect.stringMatching(/^ver_/), user_id: ada.id, expires_at })
    expect(service.notified).toEqual([])
    const answer = await save(auth_token)
    const { request_id } = data
    expect(dataOf(answer)).toEqual({
      user_id: ada.id,
      request_id,
      source: 'caller',
      recorded_at: clock.iso(),
    })
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(refusal(await save(auth_token))).toEqual([410, 'spent', []])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'saveFaceauthSuccess',
      `verification:${request_id}`,
      ['spent_at', 'success', 'source: caller'],
    ])
    expect(refusal(await show(service, request_id, acme.key))).toEqual([404, 'not_found', []])
  })

  test('keep the token out of the store, the log and a repeated answer', async () => {
    const headers = { 'idempotency-key': 't1' }
    const { auth_token } = dataOf(await token({ mobile: ada.mobile }, { headers }))
    const again = dataOf(await token({ mobile: ada.mobile }, { headers }))
    expect(again).toMatchObject({ secret_already_shown: true })
    await save(auth_token)
    expect(service.log.at(-1)!.route).toBe('/admin/public/api/save/faceauth/success/:auth_token')
    for (const text of [again, service.log, await contentsOf(service)])
      expect(JSON.stringify(text)).not.toContain(auth_token)
  })

  test('do not use up a token by HEAD', async () => {
    const { auth_token } = dataOf(await token())
    const headed = await service.app.request(
      `http://127.0.0.1:8080/admin/public/api/save/faceauth/success/${auth_token}`,
      { method: 'HEAD', headers: { 'x-api-key': acme.key } },
    )
    expect([headed.status, headed.headers.get('allow')]).toEqual([405, 'GET, OPTIONS'])
    dataOf(await save(auth_token))
  })

  test('refuse an expired token, one of another organization, and an unknown one', async () => {
    const { auth_token } = dataOf(await token())
    const globex = await createTenant(service, 'globex')
    const key = globex.key
    expect(await refusedWithoutTrace(service, () => save(auth_token, { key }))).toEqual([
      404,
      'not_found',
      [],
    ])
    expect(await refusedWithoutTrace(service, () => save('never'))).toEqual([404, 'not_found', []])
    expect(refusal(await save(auth_token, { key: 'none' }))).toEqual([401, 'unauthenticated', []])
    clock.tick(10 * minute)
    expect(await refusedWithoutTrace(service, () => save(auth_token))).toEqual([410, 'expired', []])
  })

  test('require exactly one of user_id and mobile, and a person with a device', async () => {
    const { id } = await createMember(service, acme.id, 2)
    expect(refusal(await token({}))).toEqual([422, 'invalid_field', ['user_id', 'mobile']])
    expect(refusal(await token({ user_id: ada.id, mobile: ada.mobile }))).toEqual([
      422,
      'invalid_field',
      ['user_id', 'mobile'],
    ])
    expect(refusal(await token({ user_id: id }))).toEqual([409, 'approver_not_enrolled', []])
    expect(refusal(await token({ user_id: 999 }))).toEqual([404, 'not_found', []])
    expect(refusal(await token({ user_id: ada.id, lifetime: 3600 }))).toEqual([
      422,
      'invalid_field',
      ['lifetime'],
    ])
  })
})
