import { ada, dataOf } from './fixtures.ts'
import type { TestService } from './harness.ts'

type By = { key?: string }

/** The code that this phone was sent last, as its owner reads it. */
export const codeFor = async (service: TestService, mobile: string): Promise<string> => {
  const texts = (await service.messages()).filter(({ kind, to }) => kind === 'otp' && to === mobile)
  return /\b\d{6}\b/.exec(texts.at(-1)!.text)![0]
}

/** Another code than this one. */
export const wrongCode = (otp: string): string => String((Number(otp) + 1) % 1_000_000).padStart(6, '0')

export const register = ({ call }: TestService, { key, ...profile }: By & Record<string, unknown> = {}) => {
  const { email: _, ...nameless } = ada
  return call('POST', '/wp/register/mobile/user', { key, body: { ...nameless, ...profile } })
}

export const send = ({ call }: TestService, mobile: string, { key }: By = {}) =>
  call('POST', '/wp/send/sms', { key, body: { mobile } })

export const confirm = (
  { call }: TestService,
  mobile: string,
  otp: string,
  { key, registration_token }: By & { registration_token?: string } = {},
) => call('POST', '/wp/confirm/register', { key, body: { mobile, otp, registration_token } })

export type MobileUser = { user_id: string; mobile: string; access_token: string; refresh_token: string }

/** Somebody with +1 and this national number who has registered and confirmed their phone. */
export const createMobileUser = async (
  service: TestService,
  { mobile = ada.mobile, ...more }: By & Record<string, unknown> = {},
): Promise<MobileUser> => {
  const { registration_token } = dataOf(await register(service, { mobile, ...more }))
  const number = `+1${mobile}`
  dataOf(await send(service, number, more))
  const otp = await codeFor(service, number)
  const tokens = dataOf(await confirm(service, number, otp, { ...more, registration_token }))
  return { ...tokens, mobile: number }
}
