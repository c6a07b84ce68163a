import { describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { createApprover, decide, enroll } from '../approver.ts'
import { dataOf, fence, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { createMobileUser } from '../mobile-user.ts'
import { approveAt, brief, policy, results, started, token } from './verification.ts'

installHooks()

describe('POST /biometric-geo-fence-auth-results under the rules', () => {
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
})
