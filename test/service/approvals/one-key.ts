import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { svc } from '../../cli/svc.ts'
import { ask, decide } from '../approver.ts'
import { answerTo, cookieOf, fromPage, fromPhone, phoneRegistration, type Phone } from '../page/phone.ts'
import { createClock } from '../clock.ts'
import { moveDevice, signIn } from '../devices/moves.ts'
import { ada as details, createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type Answer, type TestService } from '../harness.ts'
import { call } from '../mcp/http-tools.ts'
import { callTools } from '../mcp/oauth-client.ts'

// After `installHooks`, each test has a service with tools, acme, and what somebody can do who has nothing but one key of acme
// with every scope: make up people, and phones that no person holds.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string; keyId: string }
/** The key of another person of acme, which the operator created too. */
export let honest: string

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (options: Parameters<typeof startTestService>[0] = {}): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ now: clock.now, ...options })
    acme = await createTenant(service, 'acme')
    honest = (await createKey(['all'], service.operatorKey, { name: 'honest' })).key
  })
  afterEach(() => service.close())
}

export const createKey = async (
  scopes: string[],
  by = acme.key,
  more: object = {},
): Promise<{ id: string; key: string }> => {
  const body = { name: `key ${Math.random()}`, org_id: acme.id, scopes, ...more }
  return dataOf(await service.call('POST', '/svc/v1/keys', { key: by, body }))
}

export const setPolicy = async (policy: object): Promise<void> => {
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } }))
}

export type User = { id: string; mobile_e164: string }

/** The person with the number 2025550100 + `n`. */
export const createUser = async (n: number, by = acme.key, more: object = {}): Promise<User> =>
  dataOf(
    await service.call('POST', `/organization/${acme.id}/create/user`, {
      key: by,
      body: { ...details, email: `user${n}@acme.example`, mobile: String(2025550100 + n), ...more },
    }),
  )

const toPhone = (user: User, key: Phone['key'], answer: Answer): Phone => ({
  user: user.id,
  mobile: user.mobile_e164,
  device: dataOf(answer).id,
  key,
  cookie: cookieOf(answer),
})

/** Registers a phone with the token of a link. */
export const registerPhone = async (user: User, token: string): Promise<Phone> => {
  const { key, response } = phoneRegistration(
    dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } })),
  )
  const body = { token, name: 'Pixel', response }
  return toPhone(
    user,
    key,
    await service.call('POST', '/svc/v1/devices', { key: null, body, headers: fromPage }),
  )
}

/** Enrolls a phone with a link that the key `by` creates. */
export const enrollWith = async (user: User, by = acme.key): Promise<Phone> => {
  const path = `/svc/v1/organizations/${acme.id}/users/${user.id}/enrollments`
  return registerPhone(user, dataOf(await service.call('POST', path, { key: by, body: {} })).token)
}

export const signedIn = async (phone: Phone): Promise<Phone> => {
  const answer = await signIn(service, phone.key)
  dataOf(answer)
  return { ...phone, cookie: cookieOf(answer) }
}

/** Signs what the page asks for at `path`, and sends it. */
export const sign = async (phone: Phone, path: string, send: string, more: object = {}): Promise<Answer> => {
  const { cookie, key } = phone
  const { challenge } = dataOf(await fromPhone(service, 'POST', path, { cookie, body: more }))
  return fromPhone(service, 'POST', send, {
    cookie,
    body: { ...more, challenge, response: answerTo(challenge, key) },
  })
}

export const tokenIn = (text: string): string => /#enroll=([\w-]{43})/.exec(text)![1]!

/** A phone that another phone of the same person adds on the page, and approves. */
export const addPhone = async (phone: Phone, approver = phone): Promise<Phone> => {
  const { url } = dataOf(await sign(phone, 'device-link/challenge', 'device-link'))
  const added = await registerPhone({ id: phone.user, mobile_e164: phone.mobile }, tokenIn(url))
  dataOf(await moveDevice(service, approver, added.device))
  return signedIn(added)
}

/** The last link that was sent. */
export const sentToken = async (): Promise<string> => {
  const sent = (await service.messages()).filter(({ kind }) => kind === 'enrollment')
  return tokenIn(sent.at(-1)!.text)
}

/** An administrator changes a membership on the page: `accept`, `promote` or `link`. */
export const moveUser = (admin: Phone, user: string, move: string): Promise<Answer> =>
  sign(admin, `members/${user}/challenge`, `members/${user}/move`, { move })

/** Asks as an agent; the id of the request, or the code of the refusal. */
const askAsAgent = async (token: string, mobile: string): Promise<string> => {
  const args = { action: 'Deploy 4.2', approver_mobile: mobile }
  const { text } = await callTools(service, token, call('request_approval_async', args))
  const request = /apr_[\w-]{24}/.exec(text)?.[0]
  if (request !== undefined) return request
  return text.includes('Every device of the approver goes back to') ? 'approver_not_separated' : text
}

type Outcome = { refused: string } | { relation: string; failed: string[] }

/** Asks with a key or as an agent, decides with a phone, and verifies the receipt as an auditor does. */
export const outcomeOf = async (
  by: { key: string } | { agent: string },
  phone: Phone,
  flags: string[] = ['--separation', 'strict'],
): Promise<Outcome> => {
  let id: string
  if ('agent' in by) {
    id = await askAsAgent(by.agent, phone.mobile)
    if (!id.startsWith('apr_')) return { refused: id }
  } else {
    const asked = await ask(service, phone, {}, by.key)
    if (asked.status !== 200) return { refused: asked.body.data.code }
    id = asked.body.data.request_id
  }
  const decided = await decide(service, id, phone.key)
  if (decided.status !== 200) return { refused: decided.body.data.code }
  const { attestation } = dataOf(decided)
  const { folder } = service
  const { body: keys } = await service.call('GET', '/.well-known/jwks.json')
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(keys))
  writeFileSync(join(folder, 'receipt.json'), JSON.stringify(attestation))
  const given = ['receipt.json', '--jwks', 'keys.json', '--org', 'acme', '-o', 'json', ...flags]
  const env = { SVC_CONFIG_DIR: join(folder, 'no-profile') }
  const verified = await svc(['approve', 'verify', ...given], { cwd: folder, env, now: clock.now })
  const { checks } = verified.data() as { checks: { name: string; ok: boolean }[] }
  return {
    relation: attestation.claims.device.enrolled_by.relation,
    failed: checks.filter(({ ok }) => !ok).map(({ name }) => name),
  }
}
