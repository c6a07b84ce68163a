import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApprover, type Approver } from '../approver.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createMobileUser } from '../mobile-user.ts'

const imei = '352099001761481'
const imeisv = '3520990017614823'

let service: TestService
let acme: { id: number; key: string }
beforeEach(async () => {
  service = await startTestService({ dev: true })
  acme = await createTenant(service, 'acme')
})
afterEach(() => service.close())

const check = (text: string, who: object = {}, key?: string) =>
  service.call('POST', '/check-imei', { key, body: { imei: text, ...who } })

describe('an IMEI', () => {
  test.each([
    [imei, 'imei'],
    ['35-209900-176148-1', 'imei'],
    ['35 209900 176148 1', 'imei'],
    ['35/209900/176148/1', 'imei'],
    ['490154203237518', 'imei'],
    [imeisv, 'imeisv'],
    ['35-209900-176148-23', 'imeisv'],
  ])('is read from %s as %s', async (text, kind) => {
    const digits = text.replaceAll(/\D/g, '')
    expect(dataOf(await check(text))).toEqual({
      imei: digits,
      kind,
      tac: digits.slice(0, 8),
      known: null,
    })
  })

  test('with any one digit changed is refused because of its check digit', async () => {
    for (let place = 0; place < 15; place++) {
      const digit = (Number(imei[place]) + 1) % 10
      const answer = await check(imei.slice(0, place) + digit + imei.slice(place + 1))
      expect(refusal(answer)).toEqual([422, 'invalid_field', ['imei']])
      expect(answer.body.message).toMatch(/^imei has a wrong check digit/)
    }
  })

  test.each([
    ['35209900176148', 'imei has 14 digits; an IMEI has 15, an IMEISV 16'],
    ['35209900176148231', 'imei has 17 digits; an IMEI has 15, an IMEISV 16'],
    [
      '35209900176148X',
      'imei must contain only the digits 0 to 9; spaces, hyphens and slashes are allowed between them',
    ],
    [
      '３５２０９９００１７６１４８１',
      'imei must contain only the digits 0 to 9; spaces, hyphens and slashes are allowed between them',
    ],
    [
      '--- ---',
      'imei must contain only the digits 0 to 9; spaces, hyphens and slashes are allowed between them',
    ],
    ['000000000000000', 'imei must not be all zeros'],
    ['', 'imei must not be empty'],
  ])('%j is refused with what is wrong', async (text, message) => {
    const answer = await check(text)
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['imei']])
    expect(answer.body.message).toBe(message)
  })

  test('is known for the user who registered it, by IMEI and IMEISV alike', async () => {
    const { user_id, mobile } = await createMobileUser(service, { imei })
    expect(dataOf(await check(imei, { user_id })).known).toBe(true)
    expect(dataOf(await check(imeisv, { mobile })).known).toBe(true)
    expect(dataOf(await check('490154203237518', { mobile })).known).toBe(false)
    expect(dataOf(await check(imei, { mobile: '+12025550199' })).known).toBe(false)
  })

  test('of an account of another key is not found', async () => {
    const { user_id, mobile } = await createMobileUser(service, { imei })
    expect(dataOf(await check(imei, { mobile }, acme.key)).known).toBe(false)
    expect(refusal(await check(imei, { user_id }, acme.key))).toEqual([404, 'not_found', []])
  })
})

describe('the IMEI in results', () => {
  let approver: Approver
  beforeEach(async () => {
    approver = await createApprover(service, acme.id, 1)
    await createMobileUser(service, { key: acme.key, imei })
    dataOf(await service.call('POST', '/generate-auth-token', { body: { user_id: approver.id } }))
  })

  const results = (more: object) =>
    service.call('POST', '/biometric-geo-fence-auth-results', {
      body: {
        user_id: String(approver.id),
        biometric_result: 'PASS',
        geo_fence_result: 'PASS',
        device_info: { device_id: String(approver.device), platform: 'ios', ...more },
        timestamp: new Date().toISOString(),
      },
    })

  test('passes if it is the phone that the user registered, or is missing', async () => {
    const { factors } = dataOf(await results({ imei: imeisv }))
    expect(factors.find(({ factor }: { factor: string }) => factor === 'device')).toMatchObject({
      result: 'PASS',
      observed: { imei_matches: true },
    })
    dataOf(await service.call('POST', '/generate-auth-token', { body: { user_id: approver.id } }))
    dataOf(await results({}))
  })

  test('denies if it is another phone', async () => {
    const answer = await results({ imei: '490154203237518' })
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toContain('the IMEI does not match the registered device')
    expect(JSON.stringify(answer.body)).not.toContain(imei.slice(0, 14))
  })

  test('is a field error if it is not valid, and uses up nothing', async () => {
    expect(refusal(await results({ imei: '1' }))).toEqual([422, 'invalid_field', ['device_info.imei']])
    dataOf(await results({ imei }))
  })
})
