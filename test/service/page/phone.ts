import {
  assert,
  createSoftwareKey,
  register,
  softwareAaguid,
  type SoftwareKey,
} from '../../../src/client/software-authenticator.ts'
import { comparisonCode } from '../../../src/service/devices/record.ts'
import { createMember, dataOf } from '../fixtures.ts'
import type { Answer, TestService } from '../harness.ts'

/** A phone at the page: its key and its cookie. */
export type Phone = { user: string; mobile: string; device: string; key: SoftwareKey; cookie: string }

/** The digits that the phone shows while it waits for an approval. */
export const digitsOf = ({ key }: Pick<Phone, 'key'>): { comparison_code: string } => ({
  comparison_code: comparisonCode(key),
})

export const site = { origin: 'http://localhost:8080', rpId: 'localhost' }
/** What a browser says of itself at the page. */
export const fromPage = { host: 'localhost:8080', origin: site.origin }

type Ceremony = { challenge: string; user_handle: string }

/** As a phone registers: with attestation `none` and an authenticator that says nothing of its model. */
export const phoneRegistration = ({ challenge, user_handle }: Ceremony, where = site) => {
  const key = createSoftwareKey('ES256', { rpId: where.rpId, userHandle: user_handle })
  const { response: made, ...response } = register(key, { challenge, ...where })
  const attestation = Buffer.from(made.attestationObject, 'base64url')
  const aaguid = Buffer.from(softwareAaguid.replaceAll('-', ''), 'hex')
  attestation.fill(0, attestation.indexOf(aaguid), attestation.indexOf(aaguid) + aaguid.length)
  const { authenticatorData: _, ...others } = made
  return {
    key,
    response: { ...response, response: { ...others, attestationObject: attestation.toString('base64url') } },
  }
}

/** What a cookie that is set sends back. */
export const cookieOf = ({ headers }: Answer): string => headers['set-cookie']?.split(';')[0] ?? ''

export const fromPhone = (
  { call }: TestService,
  method: string,
  path: string,
  {
    cookie,
    body,
    headers = fromPage,
    signal,
  }: {
    cookie?: string | undefined
    body?: unknown
    headers?: Record<string, string>
    signal?: AbortSignal
  } = {},
): Promise<Answer> =>
  call(method, `/svc/v1/approver/${path}`, {
    key: null,
    body: method === 'POST' ? (body ?? {}) : undefined,
    headers: { ...headers, ...(cookie !== undefined && { cookie }) },
    signal,
  })

/** The pending requests of a phone that is signed in to one organization, and the mark to wait with. */
export const readInbox = async (service: TestService, { cookie }: { cookie: string }, query = '') => {
  const { mark, sessions } = dataOf(await fromPhone(service, 'GET', `sessions${query}`, { cookie }))
  return { mark, requests: sessions[0].requests }
}

export const linkFor = async ({ call }: TestService, org: number, user: string): Promise<string> =>
  dataOf(await call('POST', `/svc/v1/organizations/${org}/users/${user}/enrollments`, { body: {} })).token

/** From the link to the inbox, as the page does it. */
export const enrollPhone = async (
  service: TestService,
  org: number,
  user: { id: string; mobile: string; mobile_e164?: string },
): Promise<Phone> => registerPhone(service, await linkFor(service, org, user.id), user)

/** From a link to the inbox. */
export const registerPhone = async (
  service: TestService,
  token: string,
  user: { id: string; mobile: string; mobile_e164?: string },
): Promise<Phone> => {
  const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))
  const { key, response } = phoneRegistration(ceremony)
  const body = { token, name: 'Pixel', response }
  const answer = await service.call('POST', '/svc/v1/devices', { key: null, body, headers: fromPage })
  const { id: device } = dataOf(answer)
  return { user: user.id, mobile: user.mobile_e164 ?? user.mobile, device, key, cookie: cookieOf(answer) }
}

export const createPhone = async (
  service: TestService,
  org: number,
  n: number,
  more: object = {},
): Promise<Phone> => enrollPhone(service, org, await createMember(service, org, n, more))

/** The device of a session signs for it again; returns the answer. */
export const confirm = async (
  service: TestService,
  { cookie, key }: Pick<Phone, 'cookie' | 'key'>,
): Promise<Answer> => {
  const begun = await fromPhone(service, 'POST', 'confirmation/challenge', { cookie })
  if (begun.status !== 200) return begun
  const { challenge } = dataOf(begun)
  return fromPhone(service, 'POST', 'confirmation', {
    cookie,
    body: { challenge, response: answerTo(challenge, key) },
  })
}

/** The phone with the cookie of a session that its device has just confirmed. */
export const confirmed = async <P extends Pick<Phone, 'cookie' | 'key'>>(
  service: TestService,
  phone: P,
): Promise<P> => {
  const answer = await confirm(service, phone)
  dataOf(answer)
  return { ...phone, cookie: cookieOf(answer) }
}

/** The cookie as it is once the confirmation has ended. */
export const withoutConfirmation = (cookie: string): string => cookie.split('.')[0]!

export const answerTo = (challenge: string, key: SoftwareKey, userVerified = true, where = site) =>
  assert(key, { challenge, ...where }, userVerified)

export const begin = async (service: TestService): Promise<string> =>
  dataOf(await fromPhone(service, 'POST', 'challenge')).challenge
