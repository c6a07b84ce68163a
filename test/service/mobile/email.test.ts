import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClock, day, minute } from '../clock.ts'
import { auditOf, contentsOf, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { codeFor, confirm, createMobileUser, register, send, type MobileUser } from '../mobile-user.ts'

const email = 'ada@acme.example'

let clock: ReturnType<typeof createClock>
let service: TestService
let user: MobileUser
beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now, publicUrl: 'https://svc.example' })
  user = await createMobileUser(service, { email })
})
afterEach(() => service.close())

const mails = async () => (await service.messages()).filter(({ kind }) => kind === 'email_verification')
const tokenOf = (text: string): string =>
  /https:\/\/svc\.example\/approver#verify-email=([\w-]+)/.exec(text)![1]!
const newest = async (): Promise<string> => tokenOf((await mails()).at(-1)!.text)
const open = (token: string) =>
  service.call('POST', '/svc/v1/approver/email-verification', {
    key: null,
    body: { token },
    headers: { 'sec-fetch-site': 'same-origin' },
  })
const look = (token: string) =>
  service.call('POST', '/svc/v1/approver/email-verification/address', {
    key: null,
    body: { token },
    headers: { 'sec-fetch-site': 'same-origin' },
  })
const resend = () => service.call('POST', '/resend-email-verification', { body: { mobile: user.mobile } })
const update = (body: object) =>
  service.call('POST', '/update-profile', { body: { mobile: user.mobile, ...body } })
const account = async () =>
  dataOf(await service.call('POST', '/getuser', { body: { mobile: user.mobile } })).account

describe('a link that verifies an e-mail address', () => {
  test('is sent with the confirmation, and works without a key', async () => {
    expect(await mails()).toMatchObject([{ to: email, subject: 'Confirm your e-mail address' }])
    dataOf(await open(await newest()))
    expect((await account()).email_verified_at).toBe(clock.iso())
    expect(await auditOf(service, 0)).toContainEqual([
      'verifyEmail',
      `user:${user.user_id}`,
      ['email_verified_at'],
    ])
  })

  test('says which address it would verify, for as long as it works', async () => {
    const token = await newest()
    expect(dataOf(await look(token))).toEqual({ email })
    dataOf(await open(token))
    expect(refusal(await look(token))).toEqual([410, 'link_over', []])
    expect(refusal(await look('unknown'))).toEqual([410, 'link_over', []])
  })

  test('works once, for a day, and only as the newest', async () => {
    const first = await newest()
    dataOf(await resend())
    expect(refusal(await open(first))).toEqual([410, 'link_over', []])
    const second = await newest()
    dataOf(await open(second))
    expect(refusal(await open(second))).toEqual([410, 'link_over', []])
    dataOf(await update({ email: 'ada@new.example' }))
    const third = await newest()
    clock.tick(day)
    expect(refusal(await open(third))).toEqual([410, 'link_over', []])
  })

  test('goes to no address that another program wrote, and verifies none', async () => {
    const token = await newest()
    await service.runSql("UPDATE mobile_accounts SET email = 'eve@evil.example'")
    for (const answer of [await resend(), await update({ email: 'ada@new.example' }), await open(token)])
      expect(refusal(answer)).toEqual([409, 'store_changed', []])
    expect(await mails()).toHaveLength(1)
  })

  test('belongs to no registration that another program changed', async () => {
    const mobile = '2025550177'
    const { registration_token } = dataOf(await register(service, { mobile, email }))
    await service.runSql(
      `UPDATE registrations SET profile = replace(profile, '${email}', 'eve@evil.example')`,
    )
    dataOf(await send(service, `+1${mobile}`))
    const otp = await codeFor(service, `+1${mobile}`)
    expect(refusal(await confirm(service, `+1${mobile}`, otp, { registration_token }))[1]).toBe(
      'not_registered',
    )
  })

  test('is not used up by opening it', async () => {
    const token = await newest()
    for (const method of ['GET', 'HEAD'])
      expect((await service.call(method, '/svc/v1/approver/email-verification', { key: null })).status).toBe(
        405,
      )
    dataOf(await open(token))
  })

  test('is stored only as a hash', async () => {
    expect(JSON.stringify(await contentsOf(service))).not.toContain(await newest())
  })

  test('verifies only the address that it was sent to', async () => {
    const old = await newest()
    dataOf(await update({ email: 'ada@new.example' }))
    expect(refusal(await open(old))).toEqual([410, 'link_over', []])
    expect(await account()).toMatchObject({ email: 'ada@new.example', email_verified_at: null })
  })

  test('verifies nothing after the address has changed, even if no new link could be sent', async () => {
    for (let i = 0; i < 2; i++) dataOf(await resend())
    const old = await newest()
    dataOf(await update({ email: 'ada@new.example' }))
    expect(await mails()).toHaveLength(3)
    expect(refusal(await open(old))).toEqual([410, 'link_over', []])
    expect((await account()).email_verified_at).toBeNull()
  })

  test('is sent again at most three times an hour, and shows when the next is allowed', async () => {
    expect(dataOf(await resend())).toMatchObject({ sends_left: 1 })
    expect(dataOf(await resend())).toEqual({
      expires_at: '2030-02-01T12:00:00.000Z',
      sends_left: 0,
      next_send_at: '2030-01-31T13:00:00.000Z',
    })
    const answer = await resend()
    expect(refusal(answer)).toEqual([429, 'too_many_sends', []])
    expect(answer.headers['retry-after']).toBe('3600')
    expect(await mails()).toHaveLength(3)
  })

  test('is not sent to a verified person, or to one without an address', async () => {
    dataOf(await open(await newest()))
    expect(refusal(await resend())).toEqual([409, 'email_verified', []])
    const other = await createMobileUser(service, { mobile: '2025550102' })
    const body = { mobile: other.mobile }
    expect(refusal(await service.call('POST', '/resend-email-verification', { body }))).toEqual([
      409,
      'no_email',
      [],
    ])
  })
})

describe('a change of the e-mail address', () => {
  test('is not verified until its link is opened', async () => {
    dataOf(await open(await newest()))
    expect(dataOf(await update({ email: 'ada@new.example' })).account.email_verified_at).toBeNull()
    expect((await mails()).at(-1)!.to).toBe('ada@new.example')
    dataOf(await open(await newest()))
    expect((await account()).email_verified_at).toBe(clock.iso())
  })

  test('after verification requires more than a registration, which anybody can send for any number', async () => {
    dataOf(await open(await newest()))
    dataOf(await register(service, { first_name: 'Augusta', email: 'mallory@evil.example' }))
    clock.tick(minute)
    dataOf(await send(service, user.mobile))
    dataOf(await confirm(service, user.mobile, await codeFor(service, user.mobile)))
    expect(await account()).toMatchObject({ first_name: 'Ada', email })
    expect((await account()).email_verified_at).not.toBeNull()
    expect((await mails()).map(({ to }) => to)).toEqual([email])
  })

  test('to the same address keeps it verified', async () => {
    dataOf(await open(await newest()))
    dataOf(await update({ email, first_name: 'Augusta' }))
    expect(await account()).toMatchObject({ first_name: 'Augusta', email_verified_at: clock.iso() })
    expect(await mails()).toHaveLength(1)
  })
})

test('without e-mail, confirming and changing work, and a link is refused', async () => {
  const mute = await startTestService({ channels: ['sms'] })
  const one = await createMobileUser(mute, { email })
  const body = { user_id: one.user_id }
  dataOf(await mute.call('POST', '/update-profile', { body: { ...body, email: 'x@new.example' } }))
  expect(refusal(await mute.call('POST', '/resend-email-verification', { body }))).toEqual([
    409,
    'delivery_not_configured',
    [],
  ])
  await mute.close()
})
