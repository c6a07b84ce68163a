import { request } from './enrolled-approver.ts'
import { nextMobile } from './requests.ts'

/** A service with `--dev`, whose log contains the one-time codes. `log` returns what it has written so far. */
export type Running = { baseUrl: string; log(): string }

const waitMs = 5_000

const codeFor = async ({ log }: Running, mobile: string): Promise<string> => {
  const until = Date.now() + waitMs
  while (Date.now() < until) {
    const at = log().lastIndexOf(`to ${mobile}: Your code is `)
    const otp = at < 0 ? undefined : /Your code is (\d{6})/.exec(log().slice(at))?.[1]
    if (otp !== undefined) return otp
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`No code for ${mobile} in the log`)
}

/** A number that an app has registered, and its one-time code. */
export const registerPhone = async (service: Running, key: string, more: object = {}) => {
  const national = nextMobile()
  const mobile = `+1${national}`
  const profile = { first_name: 'Ada', last_name: 'Lovelace', ...more }
  const { baseUrl } = service
  await request(baseUrl, 'registerMobileUser', key, { country_code: '+1', mobile: national, ...profile })
  const { message_id } = await request(baseUrl, 'sendOtp', key, { mobile })
  return { mobile, message_id, otp: await codeFor(service, mobile) }
}

/** A confirmed number: a person with an account and its tokens. */
export const confirmPhone = async (service: Running, key: string, more: object = {}) => {
  const { mobile, otp } = await registerPhone(service, key, more)
  const tokens = await request(service.baseUrl, 'confirmRegistration', key, { mobile, otp })
  return { ...tokens, mobile }
}
