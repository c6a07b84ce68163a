import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { createApprover } from '../approver.ts'
import { minute } from '../clock.ts'
import { createTenant, dataOf, refusedWithoutTrace } from '../fixtures.ts'
import { approve, results, started } from './verification.ts'

installHooks()

describe('the input of POST /biometric-geo-fence-auth-results', () => {
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
})
