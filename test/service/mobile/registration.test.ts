import { describe, expect, test } from 'vitest'
import { day } from '../clock.ts'
import { ada, contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { createMobileUser, register } from '../mobile-user.ts'
import { account, clock, installHooks, mobile, otherNumber, sendAndConfirm, service } from './registration.ts'

installHooks()

describe('a registration', () => {
  test('returns the canonical number and sends nothing', async () => {
    expect(dataOf(await register(service, { mobile: '(202) 555-0101' }))).toEqual({
      country_code: '+1',
      mobile: '2025550101',
      mobile_e164: mobile,
      registration_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: '2030-02-01T12:00:00.000Z',
    })
    expect(await service.messages()).toEqual([])
  })

  test('has the same answer for a known and an unknown number', async () => {
    const unknown = await register(service)
    const acme = await createTenant(service, 'acme')
    await createMember(service, acme.id, 2)
    const known = await register(service, { mobile: otherNumber.mobile })
    const changed = { ...otherNumber, registration_token: expect.any(String) }
    expect(dataOf(known)).toEqual({ ...dataOf(unknown), ...changed })
  })

  test('has the same answer if an account is active', async () => {
    const unknown = await register(service, { mobile: otherNumber.mobile })
    await createMobileUser(service)
    const active = await register(service)
    const changed = { mobile: ada.mobile, mobile_e164: mobile, registration_token: expect.any(String) }
    expect(dataOf(active)).toEqual({ ...dataOf(unknown), ...changed })
  })

  test('changes no account before its phone is confirmed', async () => {
    await createMobileUser(service, { email: 'ada@acme.example', imei: '352099001761481' })
    const before = await account()
    dataOf(await register(service, { first_name: 'Mallory', email: 'mallory@evil.example' }))
    expect(await account()).toEqual(before)
  })

  test('does not create a user that others can find', async () => {
    const acme = await createTenant(service, 'acme')
    dataOf(await register(service))
    expect(refusal(await service.call('POST', '/getuser', { key: acme.key, body: { mobile } }))).toEqual([
      404,
      'not_found',
      [],
    ])
  })

  test('expires after a day', async () => {
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
  ])('with %j is refused, names the field, and stores nothing', async (wrong, field) => {
    const before = await contentsOf(service)
    expect(refusal(await register(service, wrong))).toEqual([422, 'invalid_field', [field]])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('of twelve spellings of a number is for one person', async () => {
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
    const { people } = await contentsOf(service)
    expect(people).toMatchObject([{ mobile }])
  })
})

test.each([
  '/wp/register/mobile/user',
  '/wp/send/sms',
  '/wp/confirm/register',
  '/update-profile',
  '/check-imei',
])('refuses an empty body, no body, or one of 10 MB at %s', async (path) => {
  const statusOf = async (body: unknown) => (await service.call('POST', path, { body })).status
  expect([400, 422]).toContain(await statusOf({}))
  expect([400, 415, 422]).toContain(await statusOf(''))
  expect(await statusOf(JSON.stringify({ mobile: '1'.repeat(10 * 1024 * 1024) }))).toBe(413)
})
