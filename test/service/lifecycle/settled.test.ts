import { beforeEach, describe, expect, test } from 'vitest'
import { settleRestored } from '../../../src/service/lifecycle/restored.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { createPhone, fromPhone } from '../page/phone.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'

// A store that was put back to an earlier time.

installHooks()

const restored = 'the service was restored from a backup'
const settle = () => settleRestored(service.storage)
const request = async () => {
  const { request_id, subject } = dataOf(await ask(service, ada, {}, acme.key))
  return { id: request_id as string, digest: subject.digest as string }
}
const consume = ({ id, digest }: { id: string; digest: string }) =>
  service.call('POST', `/svc/v1/approvals/${id}/consume`, { key: acme.key, body: { digest } })
const stateOf = async (id: string) => {
  const { status, detail, used_at } = dataOf(await show(service, id, acme.key))
  return [status, detail, used_at]
}

/** Returns the id of a new key. */
const createKey = async (): Promise<number> =>
  Number(dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: 'x', scopes: ['ask'] } })).id)

describe('a restored store', () => {
  let pending: { id: string; digest: string }
  let approved: { id: string; digest: string }
  beforeEach(async () => {
    pending = await request()
    approved = await request()
    dataOf(await decide(service, approved.id, ada.key))
  })

  test('ends pending requests and approvals that were not used', async () => {
    await settle()
    expect(await stateOf(pending.id)).toEqual(['expired', restored, null])
    expect(await stateOf(approved.id)).toEqual(['expired', restored, null])
    expect(refusal(await consume(approved))).toEqual([409, 'not_approved', []])
    await expect(decide(service, pending.id, ada.key)).rejects.toThrow('410')
    expect(dataOf(await service.call('GET', '/svc/v1/audit/altered'))).toEqual([])
  })

  test('does not use an approval that another program writes back', async () => {
    await settle()
    await service.runSql("UPDATE approvals SET status = 'approved' WHERE request_id = ?", [approved.id])
    expect(refusal(await consume(approved))).toEqual([403, 'request_not_authentic', []])
  })

  test('keeps what was used, denied or too late', async () => {
    dataOf(await consume(approved))
    const late = await request()
    dataOf(await decide(service, late.id, ada.key))
    clock.tick(11 * minute)
    const before = [await stateOf(approved.id), await stateOf(late.id)]
    await settle()
    expect([await stateOf(approved.id), await stateOf(late.id)]).toEqual(before)
  })

  test('gives no id that was given after the backup', async () => {
    const before = await createKey()
    await settle()
    const { id } = dataOf(await service.call('POST', '/organization/create', { body: { name: 'Later' } }))
    expect(id).toBeGreaterThan(acme.id + 1_000_000)
    await service.call('DELETE', `/svc/v1/keys/${before}`)
    expect(await createKey()).toBeGreaterThan(before + 1_000_000)
  })

  test('ends every session of the page', async () => {
    const { cookie } = await createPhone(service, acme.id, 2)
    expect((await fromPhone(service, 'GET', 'session', { cookie })).status).toBe(200)
    await settle()
    expect((await fromPhone(service, 'GET', 'session', { cookie })).status).toBe(401)
  })

  test('gives no use back to a code with few uses', async () => {
    await service.runSql(
      `INSERT INTO auth_codes (org_id, label, code_hash, hint, uses_left, created_at, updated_at)
       VALUES (?, 'few', 'a', 'x', 2, ?, ?), (?, 'any', 'b', 'x', NULL, ?, ?)`,
      [acme.id, clock.iso(), clock.iso(), acme.id, clock.iso(), clock.iso()],
    )
    await settle()
    const rows = await service.runSql('SELECT label, uses_left FROM auth_codes ORDER BY label')
    expect(rows).toEqual([
      { label: 'any', uses_left: null },
      { label: 'few', uses_left: 0 },
    ])
  })

  test('lists the keys and devices that count again, and is audited', async () => {
    const { keys, devices, counts, until } = await settle()
    expect(keys.map(({ name }) => name)).toContain('of acme')
    expect(devices).toMatchObject([{ org_id: acme.id, user_id: Number(ada.id) }])
    expect([counts.keys, counts.devices, until]).toEqual([keys.length, 1, clock.iso()])
    expect((await auditOf(service, 0)).at(-1)).toEqual(['settleRestored', 'store', []])
  })
})
