import { describe, expect, test } from 'vitest'
import { minute } from '../clock.ts'
import { signIn } from '../devices/moves.ts'
import { contentsOf, createMember, dataOf, fence, refusal } from '../fixtures.ts'
import { cookieOf, enrollPhone, fromPhone, linkFor, phoneRegistration } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

const enrollment = (token: string) => fromPhone(service, 'POST', 'enrollment', { body: { token } })

describe('an enrollment at the page', () => {
  test('returns what a phone needs to register', async () => {
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence })
    const bob = await createMember(service, acme.id, 2, { first_name: 'Bob', last_name: 'Builder' })
    const first = await enrollPhone(service, acme.id, bob)
    expect(dataOf(await enrollment(await linkFor(service, acme.id, bob.id)))).toEqual({
      attestation: 'none',
      authenticators: ['platform', 'synced', 'security_key'],
      first_name: 'Bob',
      organization: 'acme',
      user_name: 'Bob Builder, acme',
      rp_id: 'localhost',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      user_handle: first.key.user_handle,
      exclude: [first.key.credential_id],
      device_names: ['Pixel'],
      wants_location: true,
    })
  })

  test('says why it is over: used, expired, unknown, or of a user who was put on hold', async () => {
    const bob = await createMember(service, acme.id, 2)
    const over = async (token: string) => {
      const answer = await enrollment(token)
      expect(refusal(answer)).toEqual([410, 'enrollment_over', []])
      return answer.body.data.reason
    }
    const [used, other] = await Promise.all([1, 2].map(() => linkFor(service, acme.id, bob.id)))
    const { challenge, user_handle } = dataOf(await enrollment(used!))
    const body = { token: used, name: 'x', response: phoneRegistration({ challenge, user_handle }).response }
    dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body }))
    expect(await over(used!)).toBe('used')
    expect(await over(other!)).toBe('unknown')
    const [late, held] = await Promise.all([1, 2].map(() => linkFor(service, acme.id, bob.id)))
    expect(await over('x'.repeat(43))).toBe('unknown')
    clock.tick(9 * minute)
    dataOf(await enrollment(held!))
    await service.call('POST', `/organization/${acme.id}/user/${bob.id}/pending`, { body: {} })
    expect(await over(held!)).toBe('on_hold')
    clock.tick(minute)
    expect(await over(late!)).toBe('expired')
  })

  test('with a shared link registers the first phone and refuses the second', async () => {
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

const bobsLink = async () => {
  const bob = await createMember(service, acme.id, 2)
  const token = await linkFor(service, acme.id, bob.id)
  const { key, response } = phoneRegistration(dataOf(await enrollment(token)))
  return { key, body: { token, name: 'Pixel', response } }
}
const register = (body: object) => service.call('POST', '/svc/v1/devices', { key: null, body })

const stored = async () => {
  const { devices, enrollments, outbox, approver_sessions } = await contentsOf(service)
  return { devices, enrollments, outbox, approver_sessions }
}

describe('a registration whose answer was lost', () => {
  test('is repeated with the same result, registers nothing twice, and opens no session', async () => {
    const { key, body } = await bobsLink()
    const first = await register(body)
    const before = await stored()
    const again = await register(body)
    expect(dataOf(again)).toEqual({ ...dataOf(first), repeated: true })
    expect(cookieOf(again)).toBe('')
    expect(await stored()).toEqual(before)
    expect(dataOf(await signIn(service, key))).toMatchObject({ device_id: dataOf(first).id })
  })

  test('has the same result even after the link has expired', async () => {
    const { body } = await bobsLink()
    const first = dataOf(await register(body))
    clock.tick(11 * minute)
    expect(dataOf(await register(body))).toEqual({ ...first, repeated: true })
  })

  test('is repeated ten times in ten minutes', async () => {
    const { body } = await bobsLink()
    dataOf(await register(body))
    const answers = await Promise.all(Array.from({ length: 12 }, () => register(body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(refusal(await register(body))).toEqual([429, 'rate_limited', []])
    clock.tick(10 * minute)
    dataOf(await register(body))
  })

  test('is refused with the key of another device', async () => {
    const { body } = await bobsLink()
    dataOf(await register(body))
    const response = { ...body.response, id: ada.key.credential_id, rawId: ada.key.credential_id }
    expect(refusal(await register({ ...body, response }))).toEqual([410, 'enrollment_over', []])
  })

  test('is refused once the device was revoked', async () => {
    const { body } = await bobsLink()
    const { id } = dataOf(await register(body))
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${id}`))
    expect(refusal(await register(body))).toEqual([403, 'device_revoked', []])
  })
})
