import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSoftwareKey, register } from '../../src/client/software-authenticator.ts'
import { startService, type RunningService } from '../../src/service/lifecycle/serve.ts'
import { startMailServer, type MailServer } from '../service/delivery/mail-server.ts'
import { startSmsProvider, type SmsProvider } from '../service/delivery/sms-provider.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The journey of the specification from a registration to a phone that approves: register, code, confirm, assign, accept.
// The application uses only documented calls, and the person only what their phone and mailbox receive.

const key = `svc_op_${'k'.repeat(43)}`
const person = { country_code: '+1', mobile: '2025550101', first_name: 'Ada', last_name: 'Lovelace' }
const mobile = '+12025550101'

let folder: string
let remove: () => void
let sms: SmsProvider
let mail: MailServer
let service: RunningService | undefined
beforeEach(async () => {
  ;({ path: folder, remove } = temporaryFolder())
  ;[sms, mail] = await Promise.all([startSmsProvider(), startMailServer()])
})
afterEach(async () => {
  await service?.stop()
  await Promise.all([sms.close(), mail.close()])
  remove()
})

type Channels = { sms?: boolean; mail?: boolean; dev?: boolean }

/** A new service with this person's data and these channels. A software key takes the place of the phone, with --dev. */
const serve = async ({ sms: bySms, mail: byMail, dev = true }: Channels): Promise<void> => {
  await service?.stop()
  const env: Record<string, string> = { SVC_BOOTSTRAP_API_KEY: key }
  if (bySms) env.SVC_SMS_URL = sms.url
  if (byMail)
    Object.assign(env, { SVC_SMTP_URL: `smtp://127.0.0.1:${mail.port}`, SVC_SMTP_FROM: 'svc@acme.example' })
  service = await startService({ dataDir: folder, port: 0, dev, env, log: () => undefined })
}

const post = (path: string, body: object): Promise<Response> => {
  const { port, origin } = new URL(service!.baseUrl)
  // The page of the phone runs in a browser, at the host name that phones register for.
  const page = `http://localhost:${port}`
  const isPage = path.startsWith('/svc/v1/approver/')
  const proof: Record<string, string> = isPage ? { origin: page } : { 'x-api-key': key }
  const root = path.startsWith('/svc/') ? origin : service!.baseUrl
  const url = (isPage ? page : root) + path
  return fetch(url, {
    method: 'POST',
    headers: { ...proof, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
  })
}

// oxlint-disable-next-line no-explicit-any -- what a service answers
const call = async (path: string, body: object): Promise<any> => {
  const response = await post(path, body)
  const answer = (await response.json()) as { status: string; data?: unknown }
  expect([path, response.status, answer.status, answer.data]).toEqual([path, 200, 'success', answer.data])
  return answer
}

const texts = (): string[] => sms.posted.map(({ body }) => (JSON.parse(body) as { text: string }).text)
const mails = (): string[] => mail.mails.map(({ raw }) => raw.replace(/=\r\n/g, '').replaceAll('=3D', '='))

/** Waits for a matching message, and returns the match in the last one. */
const arrived = async (all: () => string[], pattern: RegExp): Promise<string> => {
  const found = () => all().findLast((text) => pattern.test(text)) ?? ''
  await expect.poll(found).toMatch(pattern)
  return pattern.exec(found())![1]!
}

const link = /\/approver#enroll=([\w-]+)/

/** Register, code, confirm, assign. Returns the IDs of the organization and of the pending person. */
const joinAcme = async (more: object = {}): Promise<{ org: number; user: number }> => {
  const org = (await call('/organization/create', { name: 'Acme Corp', slug: 'acme' })).data.id
  const { code } = (await call(`/organization/${org}/create/auth-code`, { label: 'Berlin' })).data
  await call('/wp/register/mobile/user', { ...person, ...more })
  await call('/wp/send/sms', { mobile })
  const otp = await arrived(texts, /\b(\d{6})\b/)
  const user = (await call('/wp/confirm/register', { mobile, otp })).data.user_id
  await call('/user/assign-org', { mobile, auth_code: code })
  return { org, user }
}

/** What the page does with the token of a link, with a software key. */
const enroll = async (token: string): Promise<void> => {
  const {
    challenge,
    rp_id: rpId,
    user_handle: userHandle,
  } = (await call('/svc/v1/approver/enrollment', { token })).data
  const { port } = new URL(service!.baseUrl)
  const software = createSoftwareKey('ES256', { rpId, userHandle })
  const response = register(software, { challenge, origin: `http://${rpId}:${port}`, rpId })
  await call('/svc/v1/devices', { token, name: 'Phone', response })
}

test('ends with a phone that approves, by the link in a text message', async () => {
  await serve({ sms: true, mail: true })
  const { org, user } = await joinAcme()
  const accepted = await call(`/organization/${org}/user/${user}/accept`, {})
  expect(accepted.data.enrollment).toMatchObject({ channel: 'sms', next: null })
  const token = await arrived(texts, link)
  expect(JSON.stringify(accepted)).not.toContain(token)
  expect(JSON.parse(sms.posted.at(-1)!.body)).toMatchObject({ to: mobile })
  expect((await call('/enrolstatus', { mobile })).data.requirements).toEqual(['enroll_device'])
  await enroll(token)
  expect((await call('/is_enrolled', { mobile })).data).toEqual({ enrolled: true })
  await call('/verify-user', { country_code: person.country_code, mobile: person.mobile })
  // The app has its own name for the phone, and a location, because the document says that a device has both.
  const results = {
    user_id: String(user),
    biometric_result: 'PASS',
    geo_fence_result: 'PASS',
    device_info: { device_id: '5A1C0F3E', platform: 'ios', model: 'iPhone 19' },
    location: { latitude: 52.52, longitude: 13.405 },
    timestamp: `${new Date().toISOString().slice(0, 19)}+0000`,
  }
  const decided = (await call('/biometric-geo-fence-auth-results', results)).data
  expect(decided).toMatchObject({ decision: 'PASS', source: 'caller' })
  const response = await fetch(new URL('/svc/v1/approvals', service!.baseUrl), {
    headers: { 'x-api-key': key },
  })
  const { data } = (await response.json()) as { data: { status: string; attestation: unknown }[] }
  expect(data.map(({ status, attestation }) => [status, attestation])).toEqual([['expired', null]])
})

test('uses e-mail if text messages cannot be sent and the address is verified', async () => {
  await serve({ sms: true, mail: true })
  const { org, user } = await joinAcme({ email: 'ada@acme.example' })
  await call('/svc/v1/approver/email-verification', { token: await arrived(mails, /#verify-email=([\w-]+)/) })
  await serve({ mail: true, dev: false })
  const before = texts().length
  const { enrollment } = (await call(`/organization/${org}/user/${user}/accept`, {})).data
  expect(enrollment).toMatchObject({ channel: 'email', next: null })
  const token = await arrived(mails, link)
  expect(mail.mails.at(-1)!.to).toEqual(['ada@acme.example'])
  expect(texts()).toHaveLength(before)
  await serve({ mail: true })
  await enroll(token)
  expect((await call('/is_enrolled', { mobile })).data).toEqual({ enrolled: true })
})

test('accepts the person without a channel or a verified address, and prints the next command for the admin', async () => {
  await serve({ sms: true, mail: true })
  const { org, user } = await joinAcme({ email: 'ada@acme.example' })
  for (const channels of [{ dev: false }, { mail: true, dev: false }]) {
    await serve(channels)
    const { state, enrollment } = (await call(`/organization/${org}/user/${user}/accept`, {})).data
    expect([state, enrollment]).toEqual([
      'active',
      { channel: null, message_id: null, expires_at: null, next: `svc user enroll ${user} --org acme` },
    ])
    await call(`/organization/${org}/user/${user}/pending`, {})
  }
  expect([...texts(), ...mails()].filter((text) => link.test(text))).toEqual([])
})

test('sends no link to a person with a phone, and no link works after another was used', async () => {
  await serve({ sms: true })
  const { org, user } = await joinAcme()
  const accept = async () => (await call(`/organization/${org}/user/${user}/accept`, {})).data.enrollment
  await accept()
  const token = await arrived(texts, link)
  const { token: other } = (await call(`/svc/v1/organizations/${org}/users/${user}/enrollments`, {})).data
  await enroll(token)
  const over = await post('/svc/v1/approver/enrollment', { token: other })
  expect(over.status).toBe(410)
  await call(`/organization/${org}/user/${user}/pending`, {})
  expect(await accept()).toBeNull()
})
