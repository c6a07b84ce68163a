import { expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { contentsOf, dataOf, refusal } from '../fixtures.ts'

installHooks()

const update = (policy: object, key?: string) =>
  service.call('PUT', `/organization/${acme.id}/update`, { body: { policy }, key })
const apple = '08987058-cadc-4b81-b6e1-30de50dcbe96'
const google = 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4'

test.each([
  [{}, { recovery_delay_s: 0 }],
  [{ recovery_delay_s: 172_800 }, { recovery_delay_s: 86_400 }],
  [{ separation: 'strict' }, { separation: 'standard' }],
  [{ not_requester: true }, { not_requester: false }],
  [{ attestation: 'direct' }, { attestation: 'none' }],
  [{ allowed_aaguids: [apple] }, { allowed_aaguids: [] }],
  [{ allowed_aaguids: [apple] }, { allowed_aaguids: [apple, google] }],
  [{ require_number: true }, { require_number: false }],
  [{}, { session_max_s: 28_801 }],
  [{ session_max_s: 3_600 }, { session_max_s: 7_200 }],
  [{ device_bound_only: true }, { device_bound_only: false }],
  [{ authenticators: ['platform'] }, { authenticators: [] }],
  [{ authenticators: ['security_key'] }, { authenticators: ['security_key', 'synced'] }],
])('with the policy %j only the operator sets %j', async (before, after) => {
  dataOf(await update(before))
  const [name] = Object.keys(after)
  const contents = await contentsOf(service)
  expect(refusal(await update(after, acme.key))).toEqual([403, 'policy_protected', [`policy.${name}`]])
  expect(await contentsOf(service)).toEqual(contents)
  dataOf(await update(after))
})

test('a key of the organization can strengthen its protections', async () => {
  const strict = {
    recovery_delay_s: 172_800,
    separation: 'strict',
    not_requester: true,
    require_number: true,
    session_max_s: 3_600,
    device_bound_only: true,
  }
  dataOf(await update(strict, acme.key))
  dataOf(await update({ allowed_aaguids: [apple, google] }, acme.key))
  const { policy } = dataOf(await update({ allowed_aaguids: [apple] }, acme.key))
  expect(policy).toEqual({ ...strict, allowed_aaguids: [apple] })
})
