import { randomBytes } from 'node:crypto'
import { holdCalls } from '../rule-fixture.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { fromPage } from '../page/phone.ts'
import { ask, decide, show } from '../approver.ts'
import { createTenant, dataOf, fence, refusal } from '../fixtures.ts'

// Another program writes the database, without the master key.

installHooks()

const change = (sql: string, ...values: unknown[]) => service.runSql(sql, values)
const later = '2030-01-31T12:09:00.000Z'
const altered = async () => dataOf(await service.call('GET', '/svc/v1/audit/altered'))

const request = async () => {
  const { request_id, subject } = dataOf(await ask(service, ada, {}, acme.key))
  return { id: request_id as string, digest: subject.digest as string }
}
const approved = async () => {
  const made = await request()
  dataOf(await decide(service, made.id, ada.key))
  return made
}
const consume = ({ id, digest }: { id: string; digest: string }) =>
  service.call('POST', `/svc/v1/approvals/${id}/consume`, { key: acme.key, body: { digest } })
const shownAs = async (id: string) => {
  const { status, use_by, attestation } = dataOf(await show(service, id, acme.key))
  return [status, use_by, attestation]
}
const notAuthentic = [403, 'request_not_authentic', []]

const approveInStore = (id: string) =>
  change(
    "UPDATE approvals SET status = 'approved', use_by = ?, decided_at = ? WHERE request_id = ?",
    later,
    clock.iso(),
    id,
  )

const addFence = (headers = {}) =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
    key: acme.key,
    body: { ...fence, is_active: 0 },
    headers,
  })

test('the link of a revoked key stays invalid after another program takes the revocation back', async () => {
  const create = { name: 'lost', org_id: acme.id, scopes: ['devices', 'people'] }
  const { id, key } = dataOf(await service.call('POST', '/svc/v1/keys', { body: create }))
  const path = `/svc/v1/organizations/${acme.id}/users/${ada.id}/enrollments`
  const { token } = dataOf(await service.call('POST', path, { key, body: {} }))
  const open = () =>
    service.call('POST', '/svc/v1/approver/enrollment', { key: null, body: { token }, headers: fromPage })
  dataOf(await open())
  dataOf(await service.call('DELETE', `/svc/v1/keys/${id}`))
  expect((await open()).status).toBe(410)
  await change('UPDATE api_keys SET revoked_at = NULL WHERE id = ?', id)
  expect((await open()).status).toBe(410)
})

describe('an approval that another program wrote', () => {
  test('is not used, and no answer says that it was approved', async () => {
    const made = await request()
    await approveInStore(made.id)
    expect(refusal(await consume(made))).toEqual(notAuthentic)
    expect(await shownAs(made.id)).toEqual(['expired', null, null])
    expect(await altered()).toEqual([{ org_id: acme.id, kind: 'approval', id: made.id }])
  })

  test('is not used with the receipt and the times of another approval', async () => {
    const [genuine, made] = [await approved(), await request()]
    await change(
      `UPDATE approvals SET status = 'approved', use_by = ?, decided_at = ?,
       attestation = (SELECT attestation FROM approvals WHERE request_id = ?),
       row_mac = (SELECT row_mac FROM approvals WHERE request_id = ?) WHERE request_id = ?`,
      later,
      clock.iso(),
      genuine.id,
      genuine.id,
      made.id,
    )
    expect(refusal(await consume(made))).toEqual(notAuthentic)
    expect(await shownAs(made.id)).toEqual(['expired', null, null])
  })

  test('does not let a call pass that a rule covers', async () => {
    await holdCalls(service, acme.id, ['geofence'], [ada.id])
    const held = await addFence()
    const { request_id } = held.body.data.request
    await approveInStore(request_id)
    expect(refusal(await addFence({ 'x-svc-approval': request_id }))).toEqual(notAuthentic)
    expect(dataOf(await service.call('GET', `/organization/${acme.id}/geo-fences`))).toEqual([])
  })

  test('is not named in the audit of another write', async () => {
    const made = await request()
    await approveInStore(made.id)
    const answer = await service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
      key: acme.key,
      body: { ...fence, is_active: 0 },
      headers: { 'x-svc-approval': made.id },
    })
    expect(refusal(answer)).toEqual(notAuthentic)
  })
})

describe('a genuine approval', () => {
  test('that was used is not given back', async () => {
    const made = await approved()
    dataOf(await consume(made))
    expect(await altered()).toEqual([])
    await change('UPDATE approvals SET used_at = NULL WHERE request_id = ?', made.id)
    expect(refusal(await consume(made))).toEqual(notAuthentic)
    expect(await altered()).toEqual([{ org_id: acme.id, kind: 'approval', id: made.id }])
  })

  test('cannot be used longer', async () => {
    const made = await approved()
    await change('UPDATE approvals SET use_by = ? WHERE request_id = ?', '2030-02-01T12:00:00.000Z', made.id)
    expect(refusal(await consume(made))).toEqual(notAuthentic)
  })

  test.each([
    ['is missing', null],
    ['is not a receipt', '{"jws":"a.b.c"}'],
  ])('is not used if its receipt %s', async (_, attestation) => {
    const made = await approved()
    await change('UPDATE approvals SET attestation = ? WHERE request_id = ?', attestation, made.id)
    expect(refusal(await consume(made))).toEqual(notAuthentic)
  })

  test('is not used with the genuine receipt of another request', async () => {
    const [other, made] = [await approved(), await approved()]
    await change(
      'UPDATE approvals SET attestation = (SELECT attestation FROM approvals WHERE request_id = ?) WHERE request_id = ?',
      other.id,
      made.id,
    )
    expect(refusal(await consume(made))).toEqual(notAuthentic)
    dataOf(await consume(other))
  })

  test('is not used if its receipt asks other people than the request', async () => {
    const made = await approved()
    await change(
      `UPDATE approvals SET lines = replace(lines, '"need":1', '"need":0') WHERE request_id = ?`,
      made.id,
    )
    expect(refusal(await consume(made))).toEqual(notAuthentic)
  })
})

describe('a row that is valid once', () => {
  const token = randomBytes(32).toString('base64url')
  let person: number
  beforeEach(() => (person = Number(ada.id)))

  test('does not verify an e-mail address if another program wrote it', async () => {
    await change(
      `INSERT INTO email_verifications (org_id, user_id, email, token_hash, created_at, expires_at)
       VALUES (?, ?, 'm@evil.example', ?, ?, ?)`,
      acme.id,
      person,
      sha256(token),
      clock.iso(),
      later,
    )
    expect(
      refusal(
        await service.call('POST', '/svc/v1/approver/email-verification', {
          key: null,
          body: { token },
          headers: { 'sec-fetch-site': 'same-origin' },
        }),
      ),
    ).toEqual([410, 'link_over', []])
    expect((await altered()).map(({ kind }: { kind: string }) => kind)).toEqual(['email_link'])
  })

  test('yields no access token if another program wrote it', async () => {
    await change(
      "INSERT INTO token_families (family, org_id, user_id, created_at) VALUES ('f', ?, ?, ?)",
      acme.id,
      person,
      clock.iso(),
    )
    await change(
      `INSERT INTO refresh_tokens (family, org_id, user_id, token_hash, created_at, expires_at) VALUES ('f', ?, ?, ?, ?, ?)`,
      acme.id,
      person,
      sha256(token),
      clock.iso(),
      later,
    )
    const answer = await service.call('POST', '/wp/mobile/refresh/token', {
      key: acme.key,
      body: { refresh_token: token },
    })
    expect(refusal(answer)).toEqual([401, 'refresh_token_invalid', []])
    expect((await altered()).map(({ kind }: { kind: string }) => kind)).toEqual(['refresh_token'])
  })

  test('does not answer another key than the one that asked', async () => {
    const body = { country_code: '+1', mobile: ada.mobile.slice(2), org_id: acme.id }
    const { request_id } = dataOf(await service.call('POST', '/verify-user', { key: acme.key, body }))
    dataOf(await decide(service, request_id, ada.key))
    const other = dataOf(
      await service.call('POST', '/svc/v1/keys', { body: { name: 'app', org_id: acme.id, scopes: ['all'] } }),
    )
    await change('UPDATE verifications SET key_id = ?', other.id)
    const validate = (key: string) =>
      service.call('POST', '/validate/global/auth', { key, body: { mobile: ada.mobile, request_id } })
    expect(refusal(await validate(other.key))[0]).toBe(404)
    expect((await altered()).map(({ kind }: { kind: string }) => kind)).toEqual(['verification'])
  })
})

test('an approval that the service recorded counts in each organization', async () => {
  await createTenant(service, 'globex')
  const made = await approved()
  expect((await shownAs(made.id))[0]).toBe('approved')
  expect(await altered()).toEqual([])
  dataOf(await consume(made))
  expect(await altered()).toEqual([])
})
