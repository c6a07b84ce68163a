import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClock, minute } from '../clock.ts'
import { auditOf, contentsOf, createMember, createTenant, dataOf, fence, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import {
  answerTo,
  begin,
  cookieOf,
  createPhone,
  enrollPhone,
  fromPhone,
  linkFor,
  phoneRegistration,
  type Phone,
} from './phone.ts'

const day = 24 * 60 * minute

let clock: ReturnType<typeof createClock>
let service: TestService
let acme: { id: number; key: string }
let ada: Phone
const open = async (options: { publicUrl?: string } = {}): Promise<void> => {
  clock = createClock()
  service = await startTestService({ now: clock.now, ...options })
  acme = await createTenant(service, 'acme')
  ada = await createPhone(service, acme.id, 1)
}
beforeEach(() => open())
afterEach(() => service.close())

const whoami = (cookie?: string) => fromPhone(service, 'GET', 'session', { cookie })
const enrollment = (token: string) => fromPhone(service, 'POST', 'enrollment', { body: { token } })
const openSession = (challenge: string, response: unknown) =>
  fromPhone(service, 'POST', 'session', { body: { challenge, response } })

describe('an enrollment at the page', () => {
  test('tells what a phone needs to register', async () => {
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence })
    const bob = await createMember(service, acme.id, 2, { first_name: 'Bob', last_name: 'Builder' })
    const first = await enrollPhone(service, acme.id, bob)
    expect(dataOf(await enrollment(await linkFor(service, acme.id, bob.id)))).toEqual({
      first_name: 'Bob',
      organization: 'acme',
      user_name: 'Bob Builder, acme',
      rp_id: 'localhost',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      user_handle: first.key.user_handle,
      exclude: [first.key.credential_id],
      wants_location: true,
    })
  })

  test('is over once it is used, late, of nobody, or of one who was put on hold', async () => {
    const bob = await createMember(service, acme.id, 2)
    const [used, late, held] = await Promise.all([1, 2, 3].map(() => linkFor(service, acme.id, bob.id)))
    const { challenge, user_handle } = dataOf(await enrollment(used!))
    const body = { token: used, name: 'x', response: phoneRegistration({ challenge, user_handle }).response }
    dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body }))
    const over = [410, 'enrollment_over', []]
    expect(refusal(await enrollment(used!))).toEqual(over)
    expect(refusal(await enrollment('x'.repeat(43)))).toEqual(over)
    clock.tick(9 * minute)
    dataOf(await enrollment(held!))
    await service.call('POST', `/organization/${acme.id}/user/${bob.id}/pending`, { body: {} })
    expect(refusal(await enrollment(held!))).toEqual(over)
    clock.tick(minute)
    expect(refusal(await enrollment(late!))).toEqual(over)
  })

  test('of a link that was shared registers the first phone and tells the second', async () => {
    const bob = await createMember(service, acme.id, 2)
    const token = await linkFor(service, acme.id, bob.id)
    const ceremony = dataOf(await enrollment(token))
    const register = () =>
      service.call('POST', '/svc/v1/devices', {
        key: null,
        body: { token, name: 'x', response: phoneRegistration(ceremony).response },
      })
    const answers = await Promise.all([register(), register()])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410])
    expect(answers.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1)
  })
})

describe('a session', () => {
  test('opens with the registration and tells who stands at the page', async () => {
    expect(dataOf(await whoami(ada.cookie))).toEqual({
      first_name: 'Ada',
      organization: 'acme',
      role: 'member',
      device_id: ada.device,
      device_name: 'Pixel',
      credential_id: ada.key.credential_id,
      rp_id: 'localhost',
      wants_location: false,
      push_key: expect.stringMatching(/^[\w-]{87}$/),
      subscribed: false,
    })
  })

  test('is a cookie that no script reads and no other site sends, and is kept as a hash', async () => {
    const challenge = await begin(service)
    const answer = await openSession(challenge, answerTo(challenge, ada.key))
    expect(answer.headers['set-cookie']).toMatch(
      /^svc-approver=[\w-]{43}; Path=\/svc\/v1\/approver; Max-Age=34560000; HttpOnly; SameSite=Strict$/,
    )
    expect(JSON.stringify(await contentsOf(service))).not.toContain(cookieOf(answer).split('=')[1])
    expect(dataOf(await whoami(cookieOf(answer)))).toMatchObject({ device_id: ada.device })
    const rows = dataOf(await service.call('GET', `/svc/v1/audit?org_id=${acme.id}`))
    expect(rows.at(-1)).toMatchObject({
      action: 'openSession',
      actor: `user:${ada.user} (device ${ada.device})`,
      subject: `device:${ada.device}`,
      changes: ['session'],
    })
  })

  test.each([
    ['no cookie', undefined],
    ['a cookie of another service', 'other=1'],
    ['a made-up token', `svc-approver=${'x'.repeat(43)}`],
    ['a token that is none', 'svc-approver='],
  ])('is none with %s', async (_, cookie) => {
    expect(refusal(await whoami(cookie))).toEqual([401, 'session_over', []])
    expect(refusal(await fromPhone(service, 'GET', 'requests', { cookie }))).toEqual([
      401,
      'session_over',
      [],
    ])
  })

  test('is no key of the API, nor a key a session', async () => {
    const { status } = await service.call('GET', '/svc/v1/approvals', {
      key: null,
      headers: { cookie: ada.cookie },
    })
    expect(status).toBe(401)
    const answer = await service.call('GET', '/svc/v1/approver/session')
    expect(refusal(answer)).toEqual([401, 'session_over', []])
  })

  test('ends where the page is left, on that device alone', async () => {
    const challenge = await begin(service)
    const other = cookieOf(await openSession(challenge, answerTo(challenge, ada.key)))
    const answer = await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })
    expect(answer.status).toBe(200)
    expect(answer.headers['set-cookie']).toMatch(/^svc-approver=; .*Max-Age=0/)
    expect(refusal(await whoami(ada.cookie))).toEqual([401, 'session_over', []])
    dataOf(await whoami(other))
  })

  test.each<[string, () => Promise<unknown>]>([
    [
      'its device is revoked',
      () => service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`),
    ],
    [
      'its user is put on hold',
      () => service.call('POST', `/organization/${acme.id}/user/${ada.user}/pending`, { body: {} }),
    ],
    [
      'its user is removed',
      () =>
        service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: ada.user } }),
    ],
    ['its user is deleted', () => service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`)],
    ['its organization is deleted', () => service.call('DELETE', `/organization/${acme.id}/delete`)],
  ])('ends when %s, and opens no more', async (_, end) => {
    const challenge = await begin(service)
    dataOf(await whoami(ada.cookie))
    await end()
    expect(refusal(await whoami(ada.cookie))).toEqual([401, 'session_over', []])
    const again = await openSession(challenge, answerTo(challenge, ada.key))
    expect(refusal(again)).toEqual([403, 'device_not_registered', []])
  })

  test('lasts for 90 days after it was last used', async () => {
    for (let i = 0; i < 4; i++) {
      clock.tick(60 * day)
      dataOf(await whoami(ada.cookie))
      await service.storage.write(async () => undefined)
    }
    clock.tick(90 * day)
    expect(refusal(await whoami(ada.cookie))).toEqual([401, 'session_over', []])
  })

  test('has a cookie for https alone where the site is', async () => {
    await service.close()
    clock = createClock()
    service = await startTestService({
      now: clock.now,
      publicUrl: 'https://svc.example.com',
      guards: { publicUrl: 'https://svc.example.com' },
    })
    acme = await createTenant(service, 'acme')
    const bob = await createMember(service, acme.id, 2)
    const token = await linkFor(service, acme.id, bob.id)
    const where = { origin: 'https://svc.example.com', rpId: 'svc.example.com' }
    const headers = { host: 'svc.example.com', origin: where.origin }
    const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token }, headers }))
    const body = { token, name: 'x', response: phoneRegistration(ceremony, where).response }
    const answer = await service.call('POST', '/svc/v1/devices', { key: null, body })
    expect(answer.headers['set-cookie']).toMatch(
      /^__Secure-svc-approver=.*; HttpOnly; SameSite=Strict; Secure$/,
    )
    dataOf(await whoami(cookieOf(answer)))
    expect(refusal(await whoami(cookieOf(answer).replace('__Secure-', '')))[0]).toBe(401)
  })
})

describe('an assertion that opens a session', () => {
  test('opens one, once', async () => {
    const challenge = await begin(service)
    const response = answerTo(challenge, ada.key)
    const answers = await Promise.all([1, 2, 3].map(() => openSession(challenge, response)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410, 410])
    expect(answers.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1)
    expect(refusal(await openSession(challenge, response))).toEqual([410, 'challenge_over', []])
  })

  test('comes within two minutes', async () => {
    const challenge = await begin(service)
    clock.tick(2 * minute)
    const late = await openSession(challenge, answerTo(challenge, ada.key))
    expect(refusal(late)).toEqual([410, 'challenge_over', []])
  })

  test.each<[string, (challenge: string) => Promise<unknown> | unknown, [number, string]]>([
    [
      'over another challenge',
      async () => answerTo(await begin(service), ada.key),
      [403, 'assertion_refused'],
    ],
    ['without the check of its user', (one) => answerTo(one, ada.key, false), [403, 'assertion_refused']],
    [
      'by another device under its name',
      async (one) => ({
        ...answerTo(one, (await createPhone(service, acme.id, 3)).key),
        id: ada.key.credential_id,
        rawId: ada.key.credential_id,
      }),
      [403, 'assertion_refused'],
    ],
    [
      'by a key that nobody registered',
      (one) => ({ ...answerTo(one, ada.key), id: 'AAAA' }),
      [403, 'device_not_registered'],
    ],
  ])('is refused %s', async (_, make, said) => {
    const challenge = await begin(service)
    const answer = await openSession(challenge, await make(challenge))
    expect(refusal(answer).slice(0, 2)).toEqual(said)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test.each(['x', 'AAAA', Buffer.from('v1.a.b.c').toString('base64url')])(
    'is refused over a challenge that the service never made: %s',
    async (challenge) => {
      expect(refusal(await openSession(challenge, answerTo('AAAA', ada.key)))).toEqual([
        410,
        'challenge_over',
        [],
      ])
    },
  )
})

describe('a page of another origin', () => {
  test.each([
    ['POST', 'enrollment', { token: 'x' }],
    ['POST', 'challenge', {}],
    ['POST', 'session', { challenge: 'x', response: { id: 'x', response: {} } }],
    ['DELETE', 'session', undefined],
    ['POST', 'push', {}],
    ['POST', 'members/1/challenge', { move: 'accept' }],
    ['POST', 'members/1/move', {}],
  ])('reaches nothing with %s %s, nor does who names no origin', async (method, path, body) => {
    const elsewhere: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:8080' },
      { 'sec-fetch-site': 'same-site' },
      {},
    ]
    for (const headers of elsewhere) {
      const answer = await fromPhone(service, method, path, { cookie: ada.cookie, body, headers })
      expect(refusal(answer)).toEqual([403, 'foreign_origin', []])
    }
  })

  test('is told from the page itself also by what the browser says of it', async () => {
    const headers = { 'sec-fetch-site': 'same-origin' }
    const answer = await fromPhone(service, 'POST', 'challenge', { headers })
    expect(dataOf(answer)).toEqual({ rp_id: 'localhost', challenge: expect.any(String) })
  })
})

test('the chain of the organization says who registered, opened and left', async () => {
  await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })
  expect((await auditOf(service, acme.id)).slice(-2)).toEqual([
    ['registerDevice', `device:${ada.device}`, ['name', 'kind']],
    ['closeSession', `device:${ada.device}`, ['session']],
  ])
})
