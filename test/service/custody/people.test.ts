import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSoftwareKey, register } from '../../../src/client/software-authenticator.ts'
import { randomToken, sha256 } from '../../../src/core/ids.ts'
import { ask, createApprover, post, signed, type Approver } from '../approver.ts'
import { fromPhone } from '../page/phone.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type Answer, type TestService } from '../harness.ts'

let service: TestService
let org: number
let ada: Approver
let mallory: Approver

beforeEach(async () => {
  service = await startTestService({ dev: true })
  org = (await createTenant(service, 'acme')).id
  ada = await createApprover(service, org, 1)
  mallory = await createApprover(service, org, 2)
})
afterEach(() => service.close())

const change = (sql: string, ...values: unknown[]) => service.runSql(sql, values)
const code = ({ status, body }: Answer) => [status, body.data?.code]

const approveAs = async (request_id: string, who: Approver): Promise<Answer> =>
  post(service, request_id, {
    decision: 'approve',
    response: await signed(service, request_id, 'approve', who.key),
  })

describe('a number that another program wrote lets nobody decide as somebody else', () => {
  test('with their own device', async () => {
    await change('UPDATE people SET mobile = ? WHERE id = ?', '+12025550900', ada.id)
    await change('UPDATE people SET mobile = ? WHERE id = ?', ada.mobile, mallory.id)
    expect(code(await ask(service, ada))).toEqual([409, 'store_changed'])
    await change('UPDATE people SET mobile = ? WHERE id = ?', '+12025550901', mallory.id)
    await change('UPDATE people SET mobile = ? WHERE id = ?', ada.mobile, ada.id)
    const { request_id } = dataOf(await ask(service, ada))
    await change('UPDATE people SET mobile = ? WHERE id = ?', '+12025550900', ada.id)
    await change('UPDATE people SET mobile = ? WHERE id = ?', ada.mobile, mallory.id)
    expect(code(await approveAs(request_id, mallory))[0]).not.toBe(200)
    expect(code(await approveAs(request_id, ada))).toEqual([403, 'approver_not_authentic'])
  })

  test('in a request to themselves', async () => {
    const { request_id } = dataOf(await ask(service, mallory))
    const response = await signed(service, request_id, 'approve', mallory.key)
    await change('UPDATE approvals SET approver_mobile = ? WHERE request_id = ?', ada.mobile, request_id)
    const answer = await post(service, request_id, { decision: 'approve', response })
    expect(code(answer)).toEqual([403, 'request_not_authentic'])
  })
})

describe('a request cannot be decided after another program has changed', () => {
  test.each([
    ['the key that asked', 'key_id = key_id + 1'],
    ['what that key can influence', 'key_influences = 0'],
    ['what is approved', "action = 'Deploy 4.3'"],
    ['the time at which it expires', "expires_at = '2999-01-01T00:00:00.000Z'"],
  ])('%s', async (_, set) => {
    const { request_id } = dataOf(await ask(service, ada))
    const response = await signed(service, request_id, 'approve', ada.key)
    await change(`UPDATE approvals SET ${set} WHERE request_id = ?`, request_id)
    const path = `/svc/v1/approvals/${request_id}/ceremony`
    for (const answer of [
      await post(service, request_id, { decision: 'approve', response }),
      await service.call('GET', path),
    ])
      expect(code(answer)).toEqual([403, 'request_not_authentic'])
  })
})

const begin = async (token: string): Promise<number> =>
  (await fromPhone(service, 'POST', 'enrollment', { body: { token } })).status
const link = async () => {
  const path = `/svc/v1/organizations/${org}/users/${mallory.id}/enrollments`
  return dataOf(await service.call('POST', path, { body: {} }))
}

describe('an enrollment link is not valid after another program', () => {
  test('inserted it', async () => {
    const token = randomToken()
    await change(
      "INSERT INTO enrollments (org_id, user_id, token_hash, user_handle, expires_at, row_mac) SELECT org_id, ?, ?, 'x', '2999', row_mac FROM enrollments LIMIT 1",
      ada.id,
      sha256(token),
    )
    expect(await begin(token)).toBe(410)
  })

  test.each([
    ['changed its user', 'user_id = ADA'],
    ['changed its expiry', "expires_at = '2999'"],
    ['changed its creator', 'created_by = created_by + 1'],
  ])('%s', async (_, set) => {
    const { token } = await link()
    expect(await begin(token)).toBe(200)
    await change(
      `UPDATE enrollments SET ${set.replace('ADA', String(ada.id))} WHERE token_hash = ?`,
      sha256(token),
    )
    expect(await begin(token)).toBe(410)
  })

  test('reset its use', async () => {
    const { token, challenge, origin, rp_id: rpId, user_handle: userHandle } = await link()
    const response = register(createSoftwareKey('ES256', { rpId, userHandle }), { challenge, origin, rpId })
    const body = { token, name: 'Key file', response }
    dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body }))
    await change('UPDATE enrollments SET used_at = NULL WHERE token_hash = ?', sha256(token))
    expect(await begin(token)).toBe(410)
    expect(code(await service.call('POST', '/svc/v1/devices', { key: null, body }))).toEqual([
      410,
      'enrollment_over',
    ])
  })
})
