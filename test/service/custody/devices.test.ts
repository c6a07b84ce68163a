import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sessionCookie } from '../../../src/contract/page-session.ts'
import { randomToken, sha256 } from '../../../src/core/ids.ts'
import { sourceTree } from '../../source-tree.ts'
import { ask, createApprover, decide, enroll, signed, post, type Approver } from '../approver.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
let org: number
let ada: Approver

beforeEach(async () => {
  service = await startTestService({ dev: true })
  org = (await createTenant(service, 'acme')).id
  ada = await createApprover(service, org, 1)
})
afterEach(() => service.close())

const change = (sql: string, ...values: unknown[]) => service.runSql(sql, values)
const changeDevice = (set: string, id = ada.device) => change(`UPDATE devices SET ${set} WHERE id = ${id}`)
const code = ({ status, body }: { status: number; body: { data?: { code?: string } } }) => [
  status,
  body.data?.code,
]
const list = async () =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${org}/users/${ada.id}/devices`))

/** Changes that give a device more rights, or let another key or person decide with it. */
const changes = [
  ['its public key', "public_key = 'pQECAyYgASFYIA'"],
  ['the key that enrolled it', 'enrolled_by = NULL'],
  ['how it was proved', "proof = 'admin'"],
  ['when it became active', "bound_at = '2020-01-01T00:00:00.000Z'"],
  ['its model', "aaguid = 'x'"],
  ['its MAC', 'row_mac = NULL'],
] as const

describe.each(changes)('a device is not used after another program has changed %s', (_, set) => {
  test('for a decision', async () => {
    const { request_id } = dataOf(await ask(service, ada))
    const response = await signed(service, request_id, 'approve', ada.key)
    await changeDevice(set)
    expect(code(await post(service, request_id, { decision: 'approve', response }))).toEqual([
      403,
      'device_not_authentic',
    ])
    const record = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
    expect([record.status, record.attestation]).toEqual(['pending', null])
  })

  test('at the approver page', async () => {
    const token = randomToken()
    await change(
      "INSERT INTO approver_sessions (device_id, token_hash, created_at, last_seen_at, expires_at) VALUES (?, ?, '2020', '2020', '2999')",
      ada.device,
      sha256(token),
    )
    const headers = { cookie: `${sessionCookie('http://127.0.0.1:8080')}-${org}=${token}` }
    const session = () => service.call('GET', '/svc/v1/approver/session', { key: null, headers })
    expect((await session()).status).toBe(200)
    await changeDevice(set)
    expect(code(await session())).toEqual([401, 'session_over'])
  })

  test('as an enrollment of its user', async () => {
    await changeDevice(set)
    expect(code(await ask(service, ada))).toEqual([409, 'approver_not_enrolled'])
  })
})

test('a revoked device is not used after another program has undone the revocation', async () => {
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${org}/devices/${ada.device}`))
  await changeDevice("state = 'active', revoked_at = NULL")
  expect(code(await ask(service, ada))).toEqual([409, 'approver_not_enrolled'])
})

test('a device that another program inserted is not used', async () => {
  const bob = await createApprover(service, org, 2)
  const columns =
    'org_id, name, kind, public_key, algorithm, user_handle, counter, registered_at, state, proof, bound_at, row_mac'
  await change('DELETE FROM devices WHERE id = ?', ada.device)
  await change(
    `INSERT INTO devices (user_id, credential_id, ${columns}) SELECT ?, 'planted', ${columns} FROM devices WHERE id = ?`,
    ada.id,
    bob.device,
  )
  expect(code(await ask(service, ada))).toEqual([409, 'approver_not_enrolled'])
})

describe('an altered device', () => {
  test('does not make the next device a first one', async () => {
    await changeDevice("state = 'revoked', bound_at = NULL")
    await enroll(service, org, ada.id)
    expect(await list()).toMatchObject([{ state: 'pending', proof: 'admin' }])
  })

  test('can be revoked, and stays unauthentic', async () => {
    await changeDevice("proof = 'admin'")
    const path = `/svc/v1/organizations/${org}/devices/${ada.device}`
    expect(dataOf(await service.call('DELETE', path))).toMatchObject({ state: 'revoked' })
    await changeDevice("state = 'active', revoked_at = NULL")
    expect(code(await ask(service, ada))).toEqual([409, 'approver_not_enrolled'])
  })

  test('that is pending cannot be approved', async () => {
    await change('UPDATE organizations SET policy = \'{"recovery_delay_s":0}\'')
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${org}/devices/${ada.device}`))
    const { device } = await enroll(service, org, ada.id)
    await changeDevice("public_key = 'pQECAyYgASFYIA'", device)
    const approve = `/svc/v1/organizations/${org}/devices/${device}/approve`
    const body = { comparison_code: '286500' }
    expect(code(await service.call('POST', approve, { body }))).toEqual([403, 'device_not_authentic'])
    expect(await list()).toMatchObject([{ state: 'revoked' }])
  })
})

test('a device works after decisions and changes by the service', async () => {
  for (const _ of [1, 2]) {
    const { request_id } = dataOf(await ask(service, ada))
    expect((await decide(service, request_id, ada.key)).status).toBe(200)
  }
  const { holds } = service.keyring
  const rows = await service.storage.read((db) => db.selectFrom('devices').selectAll().execute())
  expect(rows.map((row) => holds('devices', row))).toEqual([true])
})

const writes =
  /(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(\s*'devices\b|(?:update|into|from)\s+devices\s+(?:set|values)/i
test('every statement that writes devices is in one file', () => {
  const found = sourceTree().filter(({ text }) => writes.test(text))
  expect(found.map(({ file }) => file)).toEqual(['src/service/devices/rows.ts'])
})
