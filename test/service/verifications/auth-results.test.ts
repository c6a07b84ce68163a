import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { createApprover, decide, enroll, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { createMobileUser } from '../mobile-user.ts'
import { auditOf, createTenant, dataOf, fence, refusal, refusedWithoutTrace } from '../fixtures.ts'
import {
  type More,
  type Row,
  approve,
  approveAt,
  brief,
  deny,
  policy,
  post,
  save,
  started,
  token,
  validate,
} from './verification.ts'

installHooks()

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

describe('POST /biometric-geo-fence-auth-results', () => {
  test('passes if the phone approved and the caller agrees, and uses up the verification', async () => {
    const request_id = await started()
    await approve(request_id)
    const answer = await results()
    expect([answer.body.status, answer.body.message]).toEqual(['success', 'Passed'])
    const data = dataOf(answer)
    expect(data).toEqual({
      user_id: ada.id,
      request_id,
      decision: 'PASS',
      source: 'service',
      factors: expect.anything(),
    })
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

  test('relies on the claim of the caller, and says so, if no phone was asked', async () => {
    const { auth_token } = dataOf(await token())
    const data = dataOf(await results())
    expect([data.decision, data.source]).toEqual(['PASS', 'caller'])
    expect(brief(data.factors).slice(0, 2)).toEqual([
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
    ['the biometric check', { biometric_result: 'FAIL' }, 'biometric: the caller reports FAIL'],
    ['the place', { geo_fence_result: 'FAIL' }, 'location: the caller reports FAIL'],
  ])('denies for %s, which uses up the verification', async (_, more, why) => {
    await approve(await started())
    const answer = await results(more)
    expect([answer.body.status, ...refusal(answer)]).toEqual(['error', 403, 'denied', []])
    expect(answer.body.message).toBe(`Denied: ${why}`)
    expect(answer.body.data).toMatchObject({ decision: 'FAIL', source: 'service' })
    expect(answer.body.data.factors.find((row: Row) => row.result === 'FAIL').reason).toBe(
      why.slice(why.indexOf(':') + 2),
    )
    expect(refusal(await results())).toEqual([410, 'spent', []])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
  })

  test('ignores a PASS if the person denied', async () => {
    await deny(await started())
    const answer = await results()
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toBe('Denied: decision: the person denied on the phone')
    expect(refusal(await results())).toEqual([410, 'spent', []])
  })

  test('uses the location that the service captured, not the PASS of the caller', async () => {
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

  test.each([
    ['PASS', 200, 'success'],
    ['FAIL', 403, 'error'],
  ])(
    'decides by a %s of the app before the person has answered, and nothing signed comes of it',
    async (result, status, word) => {
      const request_id = await started()
      const answer = await results({ biometric_result: result })
      expect([answer.status, answer.body.status]).toEqual([status, word])
      expect(answer.body.data).toMatchObject({ decision: result, source: 'caller' })
      expect(brief(answer.body.data.factors)[0]).toEqual(['biometric', 'required', result, 'caller'])
      // The prompt ends, so that nobody can approve what a caller has decided.
      expect(dataOf(await show(service, request_id))).toMatchObject({
        status: 'expired',
        detail: 'answered by results',
        attestation: null,
      })
      await expect(approve(request_id)).rejects.toThrow(/^410 /)
      expect(refusal(await validate())).toEqual([410, 'spent', []])
    },
  )

  test('waits for the person if the policy requires a number, which only they can type', async () => {
    await policy({ require_number: true })
    await started()
    expect(await refusedWithoutTrace(service, () => results())).toEqual([409, 'pending', []])
  })

  test('ignores an unknown device if no policy requires one', async () => {
    await started()
    const device_info = { device_id: 'A1-B2', platform: 'ios', model: 'iPhone', os_version: '19' }
    expect(brief(dataOf(await results({ device_info })).factors)).toContainEqual([
      'device',
      null,
      'NOT_APPLICABLE',
      'service',
    ])
  })

  test.each([{ device_trust: true }, { factors: ['device'] }])(
    'refuses an unknown device under %j, and spends nothing',
    async (fields) => {
      await policy({ device_trust: true, ...fields })
      const request_id = await started()
      const bob = await createApprover(service, acme.id, 3)
      for (const device_id of ['999', String(bob.device), bob.key.credential_id]) {
        const unknown = () => results({ device_info: { device_id, platform: 'ios' } })
        const refused = [422, 'invalid_field', ['device_info.device_id']]
        expect(await refusedWithoutTrace(service, unknown)).toEqual(refused)
      }
      expect(dataOf(await results()).request_id).toBe(request_id)
    },
  )

  test('finds a device by its id, its credential and the ids of its app', async () => {
    await policy({ device_trust: true })
    const phone = { device_id: 'A1-B2', imei: '35-209900-176148-1' }
    await createMobileUser(service, { mobile: '2025550101', key: acme.key, ...phone })
    for (const device_id of [String(ada.device), ada.key.credential_id, 'A1-B2', '352099001761481']) {
      await token()
      const { factors } = dataOf(await results({ device_info: { device_id, platform: 'ios' } }))
      expect(brief(factors)).toContainEqual(['device', 'required', 'PASS', 'service'])
    }
  })

  test('checks a posted location against the geofences, despite the PASS of the caller', async () => {
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    const { longitude } = fence
    await token()
    const inside = dataOf(await results({ location: { latitude: fence.latitude, longitude, accuracy_m: 5 } }))
    expect(brief(inside.factors)[1]).toEqual(['location', 'required', 'PASS', 'caller'])
    await token()
    const far = await results({ location: { latitude: fence.latitude + 1, longitude } })
    expect([...refusal(far), far.body.message]).toEqual([
      403,
      'denied',
      [],
      expect.stringMatching(/^Denied: location: .* km from Head/),
    ])
    await token()
    expect((await results({ location: { place: 'Berlin' } })).status).toBe(200)
  })

  test('answers expired if the person did not answer in time', async () => {
    await started()
    clock.tick(5 * minute)
    expect(refusal(await results())).toEqual([410, 'expired', []])
  })

  test('applies the rules of the organization: time, network, device', async () => {
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

  test('checks the network of the phone if it is known, not that of the caller', async () => {
    await policy({ ip_allow: ['203.0.113.0/24'] })
    const request_id = await started()
    await decide(service, request_id, ada.key, { decision: 'approve' }, '203.0.113.9')
    const { factors } = dataOf(await results({}, { from: '198.51.100.7' }))
    expect(brief(factors).at(-1)).toEqual(['ip', 'required', 'PASS', 'service'])
  })

  test('uses the claim of the caller for a location that the service did not capture', async () => {
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    await token()
    dataOf(await results())
    await token()
    expect(refusal(await results({ geo_fence_result: 'FAIL' }))).toEqual([403, 'denied', []])
  })

  test('denies for a revoked device, even if trust is only reported', async () => {
    await policy({ device_trust: true, report_only: ['device'] })
    const { device } = await enroll(service, acme.id, ada.id)
    await token()
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)
    const answer = await results({ device_info: { device_id: String(device), platform: 'ios' } })
    expect(answer.body.message).toBe('Denied: device: the device is revoked')
  })

  test('of another tenant is not found, and nothing is used up', async () => {
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
    const { operatorKey } = service
    expect(await refusedWithoutTrace(service, () => results({}, { key: operatorKey }))).toEqual([
      404,
      'not_found',
      [],
    ])
  })

  test.each([
    ['late', -5 * minute - 1],
    ['early', 5 * minute + 1],
  ])('refuses results from too %s, and uses up nothing', async (_, ms) => {
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
    ['no seconds', (iso: string) => `${iso.slice(0, 16)}Z`],
    ['a basic offset', (iso: string) => iso.replace('Z', '+0000')],
    ['an offset of hours', (iso: string) => iso.replace('Z', '+00')],
    ['nanoseconds', (iso: string) => iso.replace('Z', '000000Z')],
  ])('accepts a timestamp with %s', async (_, spelled) => {
    await approve(await started())
    expect(dataOf(await results({ timestamp: spelled(clock.iso()) })).user_id).toBe(ada.id)
  })

  test.each([
    [{ timestamp: 'yesterday' }, ['timestamp']],
    [{ timestamp: '2030-01-31T12:00:00' }, ['timestamp']],
    [{ timestamp: '2030-01-31T12:00' }, ['timestamp']],
    [{ timestamp: '2030-01-31T12:00Z00' }, ['timestamp']],
    [{ biometric_result: 'pass' }, ['biometric_result']],
    [{ geo_fence_result: undefined }, ['geo_fence_result']],
    [{ user_id: '' }, ['user_id']],
    [{ device_info: { device_id: '1' } }, ['device_info.platform']],
    [{ device_info: { device_id: '1', platform: 'ios', os: 1 } }, ['device_info.os']],
    [{ latitude: 1 }, ['latitude']],
  ])('refuses %j and names the field', async (more, fields) => {
    await approve(await started())
    expect(await refusedWithoutTrace(service, () => results(more))).toEqual([422, 'invalid_field', fields])
  })

  test('counts one of many concurrent results', async () => {
    await approve(await started())
    const answers = await Promise.all([...Array.from({ length: 4 }, () => results()), validate(), validate()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(5)
  })
})
