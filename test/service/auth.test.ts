import { describe, expect, test } from 'vitest'
import { acme, ada, clock, service } from './acme.ts'
import { ask, createApprover, decide, enroll, show } from './approver.ts'
import { minute } from './clock.ts'
import {
  auditOf,
  contentsOf,
  createMember,
  createTenant,
  dataOf,
  fence,
  refusal,
  refusedWithoutTrace,
} from './fixtures.ts'
import type { Answer } from './harness.ts'

type More = { key?: string; headers?: Record<string, string>; from?: string }
const post = (path: string, body: object, more: More = {}): Promise<Answer> =>
  service.call('POST', path, { key: acme.key, body, ...more })
const parts = { country_code: '+1', mobile: '2025550101' }
const verify = (more: object = {}, with_: More = {}) => post('/verify-user', { ...parts, ...more }, with_)
const validate = (more: object = {}, with_: More = {}) =>
  post('/validate/global/auth', { mobile: ada.mobile, ...more }, with_)
const started = async (): Promise<string> => dataOf(await verify()).request_id
const token = (body: object = { user_id: ada.id }, with_: More = {}) =>
  post('/generate-auth-token', body, with_)
const save = (auth_token: string, more: More & { method?: string } = {}) =>
  service.call(more.method ?? 'GET', `/save/faceauth/success/${auth_token}`, { key: acme.key, ...more })
const found = (more: object = {}) => ({
  user_id: String(ada.id),
  biometric_result: 'PASS',
  geo_fence_result: 'PASS',
  device_info: { device_id: String(ada.device), platform: 'ios' },
  timestamp: clock.iso(),
  ...more,
})
const results = (more: object = {}, with_: More = {}) =>
  post('/biometric-geo-fence-auth-results', found(more), with_)
const approve = (id: string) => decide(service, id, ada.key)
const approveAt = (latitude: number) => ({
  decision: 'approve' as const,
  location: { latitude, longitude: fence.longitude, accuracy_m: 5, age_ms: 0 },
})
const deny = (id: string) => decide(service, id, ada.key, { decision: 'deny' })
const policy = async (fields: object) =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: fields } }))
type Row = { factor: string; policy: string | null; result: string; source: string; reason: string }
const brief = (rows: Row[]) =>
  rows.map(({ factor, policy, result, source }) => [factor, policy, result, source])

describe('POST /verify-user', () => {
  test('rings the phone with an action that says what it is, and answers that the prompt was sent', async () => {
    const { status, body } = await verify()
    expect([status, body.status, body.message]).toEqual([200, 'success', 'Prompt sent'])
    const { request_id, ...data } = body.data
    const expires_at = new Date(Date.parse(clock.iso()) + 5 * minute).toISOString()
    expect(data).toEqual({ user_id: ada.id, number: null, expires_at })
    expect(service.rung).toMatchObject([{ request_id, org_id: acme.id, user_id: ada.id }])
    expect(dataOf(await show(service, request_id, acme.key))).toMatchObject({
      action: 'Verify your identity for acme',
      requester: 'of acme',
      approver_mobile: '+12025550101',
    })
  })

  test('takes a number however it is written', async () => {
    expect(dataOf(await verify({ mobile: '(202) 555-0101' })).user_id).toBe(ada.id)
  })

  test('asks for the factors and the number of the policy', async () => {
    await policy({ require_number: true, device_trust: true, factors: ['device'] })
    const { request_id, number } = dataOf(await verify())
    expect(number).toMatch(/^\d\d$/)
    const { factors } = dataOf(await show(service, request_id, acme.key))
    expect(factors).toEqual(['biometric', 'device'])
    const wrong = number === '10' ? '11' : '10'
    await decide(service, request_id, ada.key, { decision: 'approve', number: wrong })
    expect(refusal(await validate())).toEqual([409, 'pending', []])
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
    expect(dataOf(await validate()).attestation.claims.number_matched).toBe(true)
  })

  test('answers alike where nobody has the number, where they have no device, or are not active', async () => {
    await createMember(service, acme.id, 2)
    const held = await createApprover(service, acme.id, 3)
    await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`, { body: {} })
    const globex = await createTenant(service, 'globex')
    await createApprover(service, globex.id, 4)
    const answers = []
    for (const n of [2, 3, 4, 5]) answers.push((await verify({ mobile: String(2025550100 + n) })).body)
    expect(answers[0].data.code).toBe('approver_not_enrolled')
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(service.rung).toEqual([])
  })

  test.each([
    [{ country_code: '1' }, ['country_code']],
    [{ country_code: '+999' }, ['country_code']],
    [{ mobile: 'ada' }, ['mobile']],
    [{ mobile: '+442071838750' }, ['mobile']],
    [{ mobil: 'x' }, ['mobil']],
  ])('refuses %j and names the field', async (more, fields) => {
    expect(await refusedWithoutTrace(service, () => verify(more))).toEqual([422, 'invalid_field', fields])
  })

  test('needs the organization of an operator only where the person is in several', async () => {
    const { operatorKey: key } = service
    expect(dataOf(await verify({}, { key })).user_id).toBe(ada.id)
    const globex = await createTenant(service, 'globex')
    await createApprover(service, globex.id, 1)
    expect(refusal(await verify({}, { key }))).toEqual([422, 'invalid_field', ['org_id']])
    const { request_id } = dataOf(await verify({ org_id: globex.id }, { key }))
    expect(dataOf(await show(service, request_id)).org_id).toBe(globex.id)
    expect(refusal(await validate({}, { key }))).toEqual([422, 'invalid_field', ['org_id']])
    expect(refusal(await validate({ org_id: globex.id }, { key }))).toEqual([409, 'pending', []])
  })

  test('is limited as every prompt', async () => {
    for (let i = 0; i < 3; i++) dataOf(await verify())
    expect(refusal(await verify())).toEqual([429, 'too_many_pending', []])
  })
})

describe('POST /validate/global/auth', () => {
  test('says yes once the person has approved, and once only', async () => {
    const request_id = await started()
    expect(await refusedWithoutTrace(service, () => validate())).toEqual([409, 'pending', []])
    await approve(request_id)
    const data = dataOf(await validate())
    expect(data).toMatchObject({ user_id: ada.id, request_id })
    expect(data.attestation.claims).toMatchObject({ jti: request_id, status: 'approved', sub: ada.mobile })
    expect(brief(data.factors).slice(0, 2)).toEqual([
      ['decision', 'required', 'PASS', 'service'],
      ['biometric', 'required', 'PASS', 'service'],
    ])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'validateAuth',
      `verification:${request_id}`,
      ['spent_at', 'success', 'source: service'],
    ])
  })

  test('says yes to one of many at once', async () => {
    await approve(await started())
    const answers = await Promise.all(Array.from({ length: 8 }, () => validate()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(410)])
  })

  test('answers a repeat with the same Idempotency-Key as the first time', async () => {
    await approve(await started())
    const headers = { 'idempotency-key': 'v1' }
    const first = await validate({}, { headers })
    expect((await validate({}, { headers })).body).toEqual(first.body)
  })

  test('says no, each time, where the person denied', async () => {
    await deny(await started())
    for (let i = 0; i < 2; i++) {
      const answer = await validate()
      expect([answer.body.status, ...refusal(answer)]).toEqual(['error', 403, 'denied', []])
      expect(answer.body.message).toBe('Denied: decision: the person denied on the phone')
      expect(brief(answer.body.data.factors)[0]).toEqual(['decision', 'required', 'FAIL', 'service'])
    }
  })

  test('says which rule refused what the person approved, row by row', async () => {
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    await decide(service, await started(), ada.key, approveAt(fence.latitude + 1))
    const { message, data } = (await validate()).body
    expect(message).toMatch(/^Denied: decision: refused by the rules; location: [^;]* km from Head[^;]*$/)
    expect(brief(data.factors)).toEqual([
      ['decision', 'required', 'FAIL', 'service'],
      ['biometric', 'required', 'PASS', 'service'],
      ['location', 'required', 'FAIL', 'service'],
    ])
  })

  test('says that nobody answered in time, and that a yes was not asked for in time', async () => {
    await started()
    clock.tick(5 * minute)
    expect(refusal(await validate())).toEqual([410, 'expired', []])
    const late = await started()
    await approve(late)
    clock.tick(10 * minute)
    expect(refusal(await validate())).toEqual([410, 'expired', []])
    expect(refusal(await validate({ request_id: late }))).toEqual([410, 'expired', []])
  })

  test('is about the newest prompt, and about an older one only by its request id', async () => {
    const [first, second] = [await started(), await started()]
    await approve(first)
    expect(refusal(await validate())).toEqual([409, 'pending', []])
    await deny(second)
    expect(refusal(await validate())).toEqual([403, 'denied', []])
    expect(dataOf(await validate({ request_id: first })).request_id).toBe(first)
  })

  test('knows nothing of a plain approval, of a withdrawn prompt, or of a word of the caller', async () => {
    const plain = dataOf(await ask(service, ada, {}, acme.key)).request_id
    await approve(plain)
    expect(refusal(await validate())).toEqual([404, 'not_found', []])
    expect(refusal(await validate({ request_id: plain }))).toEqual([404, 'not_found', []])
    dataOf(await save(dataOf(await token()).auth_token))
    expect(refusal(await validate())).toEqual([404, 'not_found', []])
    const withdrawn = await started()
    await service.call('POST', `/svc/v1/approvals/${withdrawn}/cancel`, { body: {} })
    expect(refusal(await validate())).toEqual([410, 'expired', []])
  })

  test('finds nothing for another organization, nor for who is no active member any more', async () => {
    const globex = await createTenant(service, 'globex')
    await approve(await started())
    for (const more of [{}, { org_id: acme.id }])
      expect(refusal(await validate(more, { key: globex.key }))).toEqual([404, 'not_found', []])
    await service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} })
    expect(await refusedWithoutTrace(service, () => validate())).toEqual([404, 'not_found', []])
  })

  test.each([
    [{ mobile: '2025550101' }, ['mobile']],
    [{ mobile: undefined }, ['mobile']],
    [{ code: 1 }, ['code']],
  ])('refuses %j and names the field', async (more, fields) => {
    expect(refusal(await validate(more))).toEqual([422, 'invalid_field', fields])
  })
})

describe('POST /generate-auth-token and GET /save/faceauth/success/{auth_token}', () => {
  test('record the word of the caller as such, once, and no receipt comes of it', async () => {
    const { auth_token, ...data } = dataOf(await token())
    const expires_at = new Date(Date.parse(clock.iso()) + 10 * minute).toISOString()
    expect(data).toEqual({ request_id: expect.stringMatching(/^ver_/), user_id: ada.id, expires_at })
    expect(service.rung).toEqual([])
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

  test('do not let HEAD spend a token', async () => {
    const { auth_token } = dataOf(await token())
    const headed = await service.app.request(
      `http://127.0.0.1:8080/admin/public/api/save/faceauth/success/${auth_token}`,
      { method: 'HEAD', headers: { 'x-api-key': acme.key } },
    )
    expect([headed.status, headed.headers.get('allow')]).toEqual([405, 'GET, OPTIONS'])
    dataOf(await save(auth_token))
  })

  test('say no after ten minutes, to another organization, to a token that never was', async () => {
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

  test('need one way to say who, and somebody with a device', async () => {
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

describe('POST /biometric-geo-fence-auth-results', () => {
  test('passes where the phone approved and the caller agrees, and spends the verification', async () => {
    const request_id = await started()
    await approve(request_id)
    const answer = await results()
    expect([answer.body.status, answer.body.message]).toEqual(['success', 'Verified'])
    const data = dataOf(answer)
    expect(data).toEqual({ user_id: ada.id, request_id, factors: expect.anything() })
    expect(brief(data.factors)).toEqual([
      ['decision', 'required', 'PASS', 'service'],
      ['biometric', 'required', 'PASS', 'service'],
      ['location', 'required', 'PASS', 'caller'],
      ['time', null, 'NOT_APPLICABLE', 'service'],
      ['device', 'required', 'PASS', 'service'],
      ['ip', null, 'NOT_APPLICABLE', 'service'],
    ])
    expect(refusal(await results())).toEqual([410, 'spent', []])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
  })

  test('counts by the word of the caller, and says so, where no phone was asked', async () => {
    const { auth_token } = dataOf(await token())
    expect(brief(dataOf(await results()).factors).slice(0, 2)).toEqual([
      ['biometric', 'required', 'PASS', 'caller'],
      ['location', 'required', 'PASS', 'caller'],
    ])
    expect(refusal(await save(auth_token))).toEqual([410, 'spent', []])
    expect((await auditOf(service, acme.id)).at(-1)).toMatchObject([
      'submitAuthResults',
      expect.anything(),
      ['spent_at', 'success', 'source: caller'],
    ])
  })

  test.each([
    ['the biometric check', { biometric_result: 'FAIL' }, 'biometric: the caller says FAIL'],
    ['the place', { geo_fence_result: 'FAIL' }, 'location: the caller says FAIL'],
    [
      'the device',
      { device_info: { device_id: '999', platform: 'ios' } },
      'device: the device is not registered to this user',
    ],
  ])('denies for %s, and is spent by the no', async (_, more, why) => {
    await approve(await started())
    const answer = await results(more)
    expect([answer.body.status, ...refusal(answer)]).toEqual(['error', 403, 'denied', []])
    expect(answer.body.message).toBe(`Denied: ${why}`)
    expect(answer.body.data.factors.find((row: Row) => row.result === 'FAIL').reason).toBe(
      why.slice(why.indexOf(':') + 2),
    )
    expect(refusal(await results())).toEqual([410, 'spent', []])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
  })

  test('takes no PASS that the service knows to be FAIL: the person denied', async () => {
    await deny(await started())
    const answer = await results()
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toBe('Denied: decision: the person denied on the phone')
    expect(refusal(await results())).toEqual([410, 'spent', []])
  })

  test('takes the place that the service saw, and no PASS of the caller over it', async () => {
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    await decide(service, await started(), ada.key, approveAt(fence.latitude))
    const { factors } = dataOf(await results())
    expect(brief(factors)[2]).toEqual(['location', 'required', 'PASS', 'service'])
    await decide(service, await started(), ada.key, approveAt(fence.latitude + 1))
    const answer = await results()
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toMatch(/^Denied: decision: refused by the rules; location: .* km from Head/)
    expect(brief(answer.body.data.factors)[2]).toEqual(['location', 'required', 'FAIL', 'service'])
  })

  test('takes no PASS before the person has answered, and loses nothing by it', async () => {
    const request_id = await started()
    expect(await refusedWithoutTrace(service, () => results())).toEqual([409, 'pending', []])
    await approve(request_id)
    dataOf(await results())
  })

  test('says that it is too late once nobody answered', async () => {
    await started()
    clock.tick(5 * minute)
    expect(refusal(await results())).toEqual([410, 'expired', []])
  })

  test('asks the rules of the organization: time, network, device', async () => {
    const slot = { name: 'Never now', days: ['mon'], start: '01:00', end: '02:00', timezone: 'UTC' }
    dataOf(await service.call('POST', `/organization/${acme.id}/timeslots/add`, { body: slot }))
    await policy({ ip_allow: ['203.0.113.0/24'] })
    await token()
    const answer = await results({}, { from: '198.51.100.7' })
    expect(brief(answer.body.data.factors)).toEqual([
      ['biometric', 'required', 'PASS', 'caller'],
      ['location', 'required', 'PASS', 'caller'],
      ['time', 'required', 'FAIL', 'service'],
      ['device', 'required', 'PASS', 'service'],
      ['ip', 'required', 'FAIL', 'service'],
    ])
    await policy({ report_only: ['time'] })
    await token()
    const reported = dataOf(await results({}, { from: '203.0.113.9' }))
    expect(brief(reported.factors)[2]).toEqual(['time', 'report_only', 'FAIL', 'service'])
  })

  test('looks at the network of the phone, where that is known, and not at that of the caller', async () => {
    await policy({ ip_allow: ['203.0.113.0/24'] })
    const request_id = await started()
    await decide(service, request_id, ada.key, { decision: 'approve' }, '203.0.113.9')
    const { factors } = dataOf(await results({}, { from: '198.51.100.7' }))
    expect(brief(factors).at(-1)).toEqual(['ip', 'required', 'PASS', 'service'])
  })

  test('takes the word of the caller for a place that the service did not see', async () => {
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    await token()
    dataOf(await results())
    await token()
    expect(refusal(await results({ geo_fence_result: 'FAIL' }))).toEqual([403, 'denied', []])
  })

  test('denies for a device that is revoked, also where trust is only reported', async () => {
    await policy({ device_trust: true, report_only: ['device'] })
    const { device } = await enroll(service, acme.id, ada.id)
    await token()
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)
    const answer = await results({ device_info: { device_id: String(device), platform: 'ios' } })
    expect(answer.body.message).toBe('Denied: device: the device is revoked')
  })

  test("is another's: nothing is found, whoever asks, and nothing is spent", async () => {
    const globex = await createTenant(service, 'globex')
    const eve = await createApprover(service, globex.id, 2)
    const bob = await createApprover(service, acme.id, 3)
    const request_id = await started()
    await approve(request_id)
    for (const [more, key] of [
      [{}, globex.key],
      [{ org_id: acme.id }, globex.key],
      [{ user_id: String(eve.id) }, acme.key],
      [{ user_id: String(bob.id) }, acme.key],
      [{ user_id: String(bob.id), request_id }, acme.key],
      [{ user_id: 'u-7' }, acme.key],
    ] as const)
      expect(await refusedWithoutTrace(service, () => results(more, { key }))).toEqual([404, 'not_found', []])
    const device_info = { device_id: String(bob.device), platform: 'ios' }
    expect(refusal(await results({ device_info }))).toEqual([403, 'denied', []])
  })

  test.each([
    ['late', -5 * minute - 1],
    ['early', 5 * minute + 1],
  ])('refuses what was found too %s, and spends nothing', async (_, ms) => {
    await approve(await started())
    const timestamp = new Date(Date.parse(clock.iso()) + ms).toISOString()
    expect(await refusedWithoutTrace(service, () => results({ timestamp }))).toEqual([
      422,
      'invalid_field',
      ['timestamp'],
    ])
    const inTime = new Date(Date.parse(clock.iso()) + Math.sign(ms) * 5 * minute).toISOString()
    dataOf(await results({ timestamp: inTime }))
  })

  test.each([
    [{ timestamp: 'yesterday' }, ['timestamp']],
    [{ timestamp: '2030-01-31T12:00:00' }, ['timestamp']],
    [{ biometric_result: 'pass' }, ['biometric_result']],
    [{ geo_fence_result: undefined }, ['geo_fence_result']],
    [{ user_id: 7 }, ['user_id']],
    [{ device_info: { device_id: '1' } }, ['device_info.platform']],
    [{ device_info: { device_id: '1', platform: 'ios', os: 1 } }, ['device_info.os']],
    [{ latitude: 1 }, ['latitude']],
  ])('refuses %j and names the field', async (more, fields) => {
    await approve(await started())
    expect(await refusedWithoutTrace(service, () => results(more))).toEqual([422, 'invalid_field', fields])
  })

  test('counts one of many at once', async () => {
    await approve(await started())
    const answers = await Promise.all([...Array.from({ length: 4 }, () => results()), validate(), validate()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(5)
  })
})
