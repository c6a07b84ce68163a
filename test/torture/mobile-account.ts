import { withoutPhones } from '../../src/cli/terminal/mask-prose.ts'
import { request } from './enrolled-approver.ts'
import { nextMobile } from './requests.ts'

/** A service with `--dev`, whose log contains the one-time codes. `log` returns what it has written so far. */
export type Running = { baseUrl: string; log(): string }

const waitMs = 30_000

/** Waits until the log has it. */
const inLog = async (
  { log }: Running,
  what: string,
  find: (log: string) => string | undefined,
): Promise<string> => {
  const until = Date.now() + waitMs
  while (Date.now() < until) {
    const found = find(log())
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`The log has no ${what}`)
}

const codeFor = (service: Running, mobile: string): Promise<string> =>
  inLog(service, `code for ${mobile}`, (log) => {
    const at = log.lastIndexOf(`to ${withoutPhones(mobile)}: Your code is `)
    return at < 0 ? undefined : /Your code is (\d{6})/.exec(log.slice(at))?.[1]
  })

/** The link that confirms an e-mail address. */
export const emailLinkFor = (service: Running, email: string): Promise<string> =>
  inLog(service, `link for ${email}`, (log) => {
    const [, mail] = log.split(`to ${email} `)
    return mail === undefined ? undefined : /http:[^#\s]{1,200}#verify-email=[\w-]{43}/.exec(mail)?.[0]
  })

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
