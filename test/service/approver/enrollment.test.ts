import { describe, expect, test } from 'vitest'
import { minute } from '../clock.ts'
import { createMember, dataOf, fence, refusal } from '../fixtures.ts'
import { enrollPhone, fromPhone, linkFor, phoneRegistration } from './phone.ts'
import { acme, clock, installHooks, service } from './visit.ts'

installHooks()

const enrollment = (token: string) => fromPhone(service, 'POST', 'enrollment', { body: { token } })

describe('an enrollment at the page', () => {
  test('returns what a phone needs to register', async () => {
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence })
    const bob = await createMember(service, acme.id, 2, { first_name: 'Bob', last_name: 'Builder' })
    const first = await enrollPhone(service, acme.id, bob)
    expect(dataOf(await enrollment(await linkFor(service, acme.id, bob.id)))).toEqual({
      attestation: 'none',
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

  test('is over once it is used, expired, unknown, or of a user who was put on hold', async () => {
    const bob = await createMember(service, acme.id, 2)
    const [used, other] = await Promise.all([1, 2].map(() => linkFor(service, acme.id, bob.id)))
    const { challenge, user_handle } = dataOf(await enrollment(used!))
    const body = { token: used, name: 'x', response: phoneRegistration({ challenge, user_handle }).response }
    dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body }))
    const over = [410, 'enrollment_over', []]
    expect(refusal(await enrollment(used!))).toEqual(over)
    expect(refusal(await enrollment(other!))).toEqual(over)
    const [late, held] = await Promise.all([1, 2].map(() => linkFor(service, acme.id, bob.id)))
    expect(refusal(await enrollment('x'.repeat(43)))).toEqual(over)
    clock.tick(9 * minute)
    dataOf(await enrollment(held!))
    await service.call('POST', `/organization/${acme.id}/user/${bob.id}/pending`, { body: {} })
    expect(refusal(await enrollment(held!))).toEqual(over)
    clock.tick(minute)
    expect(refusal(await enrollment(late!))).toEqual(over)
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
