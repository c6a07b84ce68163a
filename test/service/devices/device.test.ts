import { beforeEach, describe, expect, test } from 'vitest'
import { createSoftwareKey, register, softwareAaguid } from '../../../src/client/software-authenticator.ts'
import { createApprover, enroll, type Approver } from '../approver.ts'
import { minute } from '../clock.ts'
import {
  auditOf,
  chainOf,
  contentsOf,
  createMember,
  dataOf,
  refusal,
  refusedWithoutTrace,
} from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { acme, ada, clock, installHooks, open, revoke, service, start } from '../enrollment.ts'

installHooks()

const devicesOf = async (user: string) =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${acme.id}/users/${user}/devices`))
const post = (body: object): Promise<Answer> => service.call('POST', '/svc/v1/devices', { key: null, body })

type Enrollment = { token: string; challenge: string; origin: string; rp_id: string; user_handle: string }
const registrationFor = ({ token, challenge, origin, rp_id, user_handle }: Enrollment, more: object = {}) => {
  const key = createSoftwareKey('ES256', { rpId: rp_id, userHandle: user_handle })
  return { token, name: 'Key file', response: register(key, { challenge, origin, rpId: rp_id }), ...more }
}

const unused = 'x'.repeat(43)

describe('a registration', () => {
  test('adds a named device to the user', async () => {
    const { device } = await enroll(service, acme.id, ada.id)
    expect(await devicesOf(ada.id)).toEqual([
      {
        id: device,
        org_id: acme.id,
        user_id: ada.id,
        name: 'Key file',
        kind: 'software',
        state: 'active',
        proof: 'link',
        comparison_code: expect.stringMatching(/^\d{6}$/),
        registered_at: clock.iso(),
        bound_at: clock.iso(),
        active_from: null,
        enrolled_by: '1',
        aaguid: softwareAaguid,
        backup_eligible: false,
        backed_up: false,
        attachment: 'platform',
        attestation_format: 'none',
        last_used_at: null,
        revoked_at: null,
      },
    ])
    const rows = await chainOf(service, acme.id)
    expect(rows.at(-1)).toMatchObject({
      action: 'registerDevice',
      actor: `user:${ada.id}`,
      subject: `device:${device}`,
    })
  })

  test('uses up the token, even if two use it at once', async () => {
    const enrollment = dataOf(await start())
    const answers = await Promise.all([
      post(registrationFor(enrollment)),
      post(registrationFor(enrollment)),
      post(registrationFor(enrollment)),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410, 410])
    expect(await devicesOf(ada.id)).toHaveLength(1)
  })

  test('says why a token is refused: it was used, has expired, or does not exist', async () => {
    const [used, late] = [dataOf(await start()), dataOf(await start())]
    clock.tick(10 * minute - 1)
    dataOf(await post(registrationFor(used)))
    const other = dataOf(await start())
    clock.tick(10 * minute)
    const reasons: unknown[] = []
    for (const token of [used.token, other.token, late.token, unused]) {
      const answer = await post(registrationFor({ ...other, token }))
      expect(refusal(answer)).toEqual([410, 'enrollment_over', []])
      reasons.push(answer.body.data.reason)
    }
    // Using one link ends the others of its user.
    expect(reasons).toEqual(['used', 'expired', 'unknown', 'unknown'])
  })

  test('is refused for a user who was removed or put on hold since', async () => {
    const enrollment = dataOf(await start())
    await service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} })
    expect(refusal(await post(registrationFor(enrollment)))).toEqual([410, 'enrollment_over', []])
  })

  test('is refused for a user who is put on hold between the check and the statement', async () => {
    const body = registrationFor(dataOf(await start()))
    const hold = service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} })
    const [, answer] = await Promise.all([hold, post(body)])
    expect(refusal(answer)).toEqual([410, 'enrollment_over', []])
    expect(await devicesOf(ada.id)).toEqual([])
  })

  test.each<[string, (enrollment: Enrollment) => object]>([
    ['another challenge', (one) => registrationFor({ ...one, challenge: unused })],
    ['another origin', (one) => registrationFor({ ...one, origin: 'http://localhost:9' })],
    ['no attestation', (one) => ({ ...registrationFor(one), response: { id: 'x', response: {} } })],
    [
      'an assertion in its place',
      (one) => {
        const { response, ...rest } = registrationFor(one)
        return {
          ...rest,
          response: { ...response, response: { ...response.response, attestationObject: 'oA' } },
        }
      },
    ],
  ])('with %s is refused and leaves the token', async (_, make) => {
    const enrollment = dataOf(await start())
    expect(await refusedWithoutTrace(service, () => post(make(enrollment)))).toEqual([
      422,
      'registration_refused',
      ['response'],
    ])
    dataOf(await post(registrationFor(enrollment)))
  })

  test('of a registered key is refused', async () => {
    const { key } = await enroll(service, acme.id, ada.id)
    const { token, challenge, origin, rp_id } = dataOf(await start())
    const body = { token, name: 'Again', response: register(key, { challenge, origin, rpId: rp_id }) }
    expect(refusal(await post(body))).toEqual([409, 'device_known', []])
  })

  test('of a software key is refused unless the service runs with --dev', async () => {
    await service.close()
    await open({ dev: false })
    const enrollment = dataOf(await start())
    expect(refusal(await post(registrationFor(enrollment)))).toEqual([403, 'software_not_allowed', []])
    const said = await post({ ...registrationFor(enrollment), software: true })
    expect(refusal(said)).toEqual([403, 'software_not_allowed', []])
    expect(await devicesOf(ada.id)).toEqual([])
  })
})

describe('a revoked device', () => {
  let approver: Approver
  beforeEach(async () => {
    approver = await createApprover(service, acme.id, 2)
  })

  test('stays in the list, and can be revoked once', async () => {
    expect(dataOf(await revoke(approver.device))).toMatchObject({ revoked_at: clock.iso() })
    expect(await devicesOf(approver.id)).toMatchObject([{ id: approver.device, revoked_at: clock.iso() }])
    expect(refusal(await revoke(approver.device))).toEqual([409, 'device_revoked', []])
    expect(refusal(await revoke('99'))).toEqual([404, 'not_found', []])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'revokeDevice',
      `device:${approver.device}`,
      ['state', 'revoked_at'],
    ])
  })

  test.each([
    ['removed', [['/organization/remove/user', true]]],
    [
      'rejected',
      [
        ['pending', false],
        ['reject', false],
      ],
    ],
  ] as const)('is what is left to who was %s, also when the user comes back', async (_, moves) => {
    for (const [move, whole] of moves) {
      const path = whole ? move : `/organization/${acme.id}/user/${approver.id}/${move}`
      const body = whole ? { org_id: acme.id, user_id: approver.id } : {}
      dataOf(await service.call('POST', path, { body }))
    }
    expect((await createMember(service, acme.id, 2)).state).toBe('active')
    expect(await devicesOf(approver.id)).toMatchObject([{ revoked_at: clock.iso() }])
  })

  test('stays after its user is deleted, without its name, and is deleted with the organization', async () => {
    await service.call('DELETE', `/organization/${acme.id}/delete/user/${approver.id}`)
    expect((await contentsOf(service)).devices).toMatchObject([{ state: 'revoked', name: 'deleted' }])
    await service.call('DELETE', `/organization/${acme.id}/delete`)
    expect((await contentsOf(service)).devices).toEqual([])
  })
})
