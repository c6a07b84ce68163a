import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClock, minute } from '../clock.ts'
import { ada, auditOf, contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { codeFor, confirm, createMobileUser, register, send } from '../mobile-user.ts'

const mobile = '+12025550101'
const day = 24 * 60 * minute

let clock: ReturnType<typeof createClock>
let service: TestService
beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now })
})
afterEach(() => service.close())

const account = async (key?: string) =>
  dataOf(await service.call('POST', '/getuser', { key, body: { mobile } })).account

const sendAndConfirm = async (by: { key?: string } = {}) => {
  dataOf(await send(service, mobile, by))
  return confirm(service, mobile, await codeFor(service, mobile), by)
}

describe('a registration', () => {
  test('answers the one spelling of the number and sends nothing', async () => {
    expect(dataOf(await register(service, { mobile: '(202) 555-0101' }))).toEqual({
      country_code: '+1',
      mobile: '2025550101',
      mobile_e164: mobile,
      expires_at: '2030-02-01T12:00:00.000Z',
    })
    expect(await service.messages()).toEqual([])
  })

  test('is answered alike whether the number is known or not', async () => {
    const unknown = await register(service)
    const acme = await createTenant(service, 'acme')
    await createMember(service, acme.id, 2)
    const known = await register(service, { mobile: '2025550102' })
    const number = { mobile: '2025550102', mobile_e164: '+12025550102' }
    expect(dataOf(known)).toEqual({ ...dataOf(unknown), ...number })
  })

  test('touches no account before its phone is confirmed', async () => {
    await createMobileUser(service, { email: 'ada@acme.example', imei: '352099001761481' })
    const before = await account()
    dataOf(await register(service, { first_name: 'Mallory', email: 'mallory@evil.example' }))
    expect(await account()).toEqual(before)
  })

  test('makes nobody a user that others find', async () => {
    const acme = await createTenant(service, 'acme')
    dataOf(await register(service))
    expect(refusal(await service.call('POST', '/getuser', { key: acme.key, body: { mobile } }))).toEqual([
      404,
      'not_found',
      [],
    ])
  })

  test('lapses after a day', async () => {
    dataOf(await register(service))
    clock.tick(day)
    expect(refusal(await sendAndConfirm())).toEqual([409, 'not_registered', []])
  })

  test.each([
    [{ country_code: undefined }, 'country_code'],
    [{ country_code: '+999' }, 'country_code'],
    [{ country_code: '1' }, 'country_code'],
    [{ mobile: '12' }, 'mobile'],
    [{ mobile: '+49 30 123456' }, 'mobile'],
    [{ mobile: undefined }, 'mobile'],
    [{ first_name: '' }, 'first_name'],
    [{ email: 'ada' }, 'email'],
    [{ imei: '352099001761482' }, 'imei'],
    [{ devicename: 'x' }, 'devicename'],
  ])('with %j is refused, naming the field, and leaves nothing', async (wrong, field) => {
    const before = await contentsOf(service)
    expect(refusal(await register(service, wrong))).toEqual([422, 'invalid_field', [field]])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('of one number in twelve spellings is one', async () => {
    const spellings = [
      '2025550101',
      '202 555 0101',
      '202-555-0101',
      '(202) 555-0101',
      '202.555.0101',
      '+12025550101',
      '+1 202 555 0101',
      '+1 (202) 555-0101',
      '+1-202-555-0101',
      '２０２５５５０１０１',
      '  2025550101  ',
      '202/555/0101',
    ]
    for (const spelling of spellings)
      expect(dataOf(await register(service, { mobile: spelling })).mobile_e164).toBe(mobile)
    const { people, registrations } = await contentsOf(service)
    expect([people, registrations]).toMatchObject([[{ mobile }], [{}]])
  })
})

describe('a confirmation', () => {
  test('makes the account of what was registered', async () => {
    const profile = { email: 'ada@acme.example', platform: 'ios', device_name: "Ada's phone" }
    dataOf(await register(service, { ...profile, imei: '35-209900-176148-1' }))
    const { user_id } = dataOf(await sendAndConfirm())
    expect(await account()).toMatchObject({
      first_name: ada.first_name,
      last_name: ada.last_name,
      ...profile,
      imei: '352099001761481',
      email_verified_at: null,
    })
    expect(await auditOf(service, 0)).toContainEqual([
      'confirmRegistration',
      `user:${user_id}`,
      ['account', 'sign-in'],
    ])
  })

  test('is for the person who is a member already, whose membership stays as it is', async () => {
    const acme = await createTenant(service, 'acme')
    const member = await createMember(service, acme.id, 1)
    const { user_id } = await createMobileUser(service, { key: acme.key, first_name: 'Augusta' })
    expect(user_id).toBe(member.id)
    const after = dataOf(await service.call('GET', `/organization/${acme.id}/user/${user_id}`))
    expect(after).toEqual(member)
  })

  test('of a right code without a registration says so and spends the code', async () => {
    expect(refusal(await sendAndConfirm())).toEqual([409, 'not_registered', []])
    dataOf(await register(service))
    const again = await confirm(service, mobile, await codeFor(service, mobile))
    expect(refusal(again)).toEqual([403, 'otp_invalid', []])
    dataOf(await sendAndConfirm())
  })

  test('signs in to an account that is there, and changes nothing', async () => {
    const { user_id } = await createMobileUser(service)
    const before = await account()
    clock.tick(10 * minute)
    expect(dataOf(await sendAndConfirm()).user_id).toBe(user_id)
    expect(await account()).toEqual(before)
  })

  test('brings a new registration into the account; what it leaves out stays, a new address is not proved', async () => {
    await createMobileUser(service, { email: 'ada@acme.example', platform: 'ios' })
    dataOf(await register(service, { first_name: 'Augusta', email: 'ada@new.example' }))
    dataOf(await sendAndConfirm())
    expect(await account()).toMatchObject({
      first_name: 'Augusta',
      email: 'ada@new.example',
      email_verified_at: null,
      platform: 'ios',
    })
  })

  test('with the key of an organization is seen with its keys alone', async () => {
    const [acme, other] = [await createTenant(service, 'acme'), await createTenant(service, 'other')]
    await createMobileUser(service, { key: acme.key })
    expect(await account(acme.key)).toMatchObject({ first_name: 'Ada' })
    for (const key of [other.key, service.operatorKey])
      expect((await service.call('POST', '/getuser', { key, body: { mobile } })).status).toBe(404)
  })

  test('is one of fifty that come at once with the right code', async () => {
    dataOf(await register(service))
    dataOf(await send(service, mobile))
    const otp = await codeFor(service, mobile)
    const answers = await Promise.all(Array.from({ length: 50 }, () => confirm(service, mobile, otp)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

test.each([
  '/wp/register/mobile/user',
  '/wp/send/sms',
  '/wp/confirm/register',
  '/update-profile',
  '/check-imei',
])('an empty body, none, or one of 10 MB at %s is refused', async (path) => {
  const ask = async (body: unknown) => (await service.call('POST', path, { body })).status
  expect([400, 422]).toContain(await ask({}))
  expect([400, 415, 422]).toContain(await ask(''))
  expect(await ask(JSON.stringify({ mobile: '1'.repeat(10 * 1024 * 1024) }))).toBe(413)
})
