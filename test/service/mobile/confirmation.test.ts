import { describe, expect, test } from 'vitest'
import { day, minute } from '../clock.ts'
import { ada, auditOf, contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { codeFor, confirm, createMobileUser, register, send } from '../mobile-user.ts'
import {
  account,
  clock,
  installHooks,
  mallory,
  mobile,
  otherNumber,
  sendAndConfirm,
  service,
} from './registration.ts'

installHooks()

describe('a confirmation', () => {
  test('creates the account from the registration', async () => {
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

  test('of a member creates the account and leaves the membership as it is', async () => {
    const acme = await createTenant(service, 'acme')
    const member = await createMember(service, acme.id, 1)
    const { user_id } = await createMobileUser(service, { key: acme.key, first_name: 'Augusta' })
    expect(user_id).toBe(member.id)
    const after = dataOf(await service.call('GET', `/organization/${acme.id}/user/${user_id}`))
    expect(after).toEqual(member)
  })

  test('with a correct code and no registration is refused and uses up the code', async () => {
    expect(refusal(await sendAndConfirm())).toEqual([409, 'not_registered', []])
    dataOf(await register(service))
    const again = await confirm(service, mobile, await codeFor(service, mobile))
    expect(refusal(again)).toEqual([403, 'otp_invalid', []])
    dataOf(await sendAndConfirm())
  })

  test('signs in to an existing account, and changes nothing', async () => {
    const { user_id } = await createMobileUser(service)
    const before = await account()
    clock.tick(10 * minute)
    expect(dataOf(await sendAndConfirm()).user_id).toBe(user_id)
    expect(await account()).toEqual(before)
  })

  test('leaves an active account as it is, whatever was registered since', async () => {
    const { user_id } = await createMobileUser(service, { email: 'ada@acme.example', platform: 'ios' })
    const before = await account()
    const { registration_token } = dataOf(await register(service, mallory))
    for (const by of [{}, { registration_token }]) {
      expect(dataOf(await sendAndConfirm(by)).user_id).toBe(user_id)
      expect(await account()).toEqual(before)
    }
    expect((await contentsOf(service)).registrations).toEqual([])
  })

  test('with the token of a registration confirms that one, older or newer than another', async () => {
    for (const order of ['older', 'newer']) {
      const number = order === 'older' ? ada.mobile : otherNumber.mobile
      const own = () => register(service, { mobile: number, email: 'ada@acme.example' })
      const other = () => register(service, { mobile: number, ...mallory })
      const answers = order === 'older' ? [await own(), await other()] : [await other(), await own()]
      const { registration_token } = dataOf(answers[order === 'older' ? 0 : 1]!)
      dataOf(await send(service, `+1${number}`))
      const otp = await codeFor(service, `+1${number}`)
      dataOf(await confirm(service, `+1${number}`, otp, { registration_token }))
      const found = await service.call('POST', '/getuser', { body: { mobile: `+1${number}` } })
      expect(dataOf(found).account).toMatchObject({
        first_name: 'Ada',
        email: 'ada@acme.example',
        imei: null,
      })
    }
  })

  test('without a token confirms neither of two, and the owner registers again', async () => {
    dataOf(await register(service, mallory))
    dataOf(await register(service))
    expect(refusal(await sendAndConfirm())).toEqual([409, 'registered_twice', []])
    const { registrations, people } = await contentsOf(service)
    expect([registrations, people]).toEqual([[], []])
    dataOf(await register(service))
    dataOf(await sendAndConfirm())
    expect(await account()).toMatchObject({ first_name: 'Ada', email: null })
  })

  test('without a token confirms two identical registrations', async () => {
    dataOf(await register(service))
    dataOf(await register(service))
    dataOf(await sendAndConfirm())
    expect(await account()).toMatchObject({ first_name: 'Ada' })
  })

  test.each(['of nobody', 'of another number', 'that lapsed'])(
    'with a token %s confirms nothing',
    async (which) => {
      const other = dataOf(await register(service, { mobile: otherNumber.mobile }))
      const own = dataOf(await register(service))
      if (which === 'that lapsed') {
        clock.tick(day)
        dataOf(await register(service, mallory))
      }
      const tokens = {
        'of nobody': 'x'.repeat(43),
        'of another number': other.registration_token,
        'that lapsed': own.registration_token,
      }
      const registration_token = tokens[which as keyof typeof tokens]
      expect(refusal(await sendAndConfirm({ registration_token }))).toEqual([409, 'not_registered', []])
    },
  )

  test('can use the newest ten registrations of a number', async () => {
    const { registration_token } = dataOf(await register(service))
    for (let i = 0; i < 10; i++) dataOf(await register(service, { first_name: `Mallory ${i}` }))
    expect((await contentsOf(service)).registrations).toHaveLength(10)
    expect(refusal(await sendAndConfirm({ registration_token }))).toEqual([409, 'not_registered', []])
  })

  test('with the key of an organization is visible to its keys only', async () => {
    const [acme, other] = [await createTenant(service, 'acme'), await createTenant(service, 'other')]
    await createMobileUser(service, { key: acme.key })
    expect(await account(acme.key)).toMatchObject({ first_name: 'Ada' })
    for (const key of [other.key, service.operatorKey])
      expect((await service.call('POST', '/getuser', { key, body: { mobile } })).status).toBe(404)
  })

  test('succeeds for one of fifty concurrent requests with the correct code', async () => {
    dataOf(await register(service))
    dataOf(await send(service, mobile))
    const otp = await codeFor(service, mobile)
    const answers = await Promise.all(Array.from({ length: 50 }, () => confirm(service, mobile, otp)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
