import { describe, expect, test } from 'vitest'
import { safeJson } from '../../../src/core/safe-text.ts'
import { sweepRetention } from '../../../src/service/lifecycle/retention.ts'
import { ask, decide, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { createTenant, dataOf, fence, refusal } from '../fixtures.ts'
import { cookieFor } from '../devices/moves.ts'
import { confirmed, createPhone, fromPhone, type Phone } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

type Decision = { request_id: string; headline: string; status: string; ended_by: string }
type List = { decisions: Decision[]; next: string | null }

const asked = async (action: string, phone = ada): Promise<string> =>
  dataOf(await ask(service, phone, { action }, acme.key)).request_id
const decided = async (action: string, decision: 'approve' | 'deny', phone = ada): Promise<string> => {
  const id = await asked(action, phone)
  await decide(service, id, phone.key, { decision })
  return id
}
const list = async ({ cookie }: Phone, query = ''): Promise<List> =>
  dataOf(await fromPhone(service, 'GET', `decisions${query}`, { cookie }))
const organizationList = ({ cookie }: Phone, query = '') =>
  fromPhone(service, 'GET', `organization/decisions${query}`, { cookie })
const detail = (id: string, { cookie } = ada) => fromPhone(service, 'GET', `decisions/${id}`, { cookie })
const devices = ({ cookie }: Phone, user: string) =>
  fromPhone(service, 'GET', `members/${user}/devices`, { cookie })
const headlines = ({ decisions }: List): string[] => decisions.map((one) => one.headline)

describe('own decisions', () => {
  test('say what the person was asked and what became of it, newest first', async () => {
    await decided('Deploy 4.1', 'approve')
    clock.tick(minute)
    const denied = await asked('Delete the backups')
    const note = 'not on Fridays'
    dataOf(await decide(service, denied, ada.key, { decision: 'deny', note }))
    const withdrawn = await asked('Restart')
    await service.call('POST', `/svc/v1/approvals/${withdrawn}/withdraw`, { key: acme.key, body: {} })
    await asked('Rotate the keys')
    clock.tick(6 * minute)
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    await decided('Deploy 4.2', 'approve')
    const pending = await asked('Still pending')
    const { decisions, next } = await list(await confirmed(service, ada))
    expect(next).toBeNull()
    expect(decisions.map((one) => [one.headline, one.status, one.ended_by])).toEqual([
      ['Deploy 4.2', 'denied', 'factors'],
      ['Rotate the keys', 'expired', 'time'],
      ['Restart', 'expired', 'requester'],
      ['Delete the backups', 'denied', 'person'],
      ['Deploy 4.1', 'approved', 'person'],
    ])
    expect(decisions[3]).toMatchObject({
      note,
      signed: true,
      device: { id: ada.device, name: 'Pixel' },
      verified_as: expect.stringContaining('key "'),
    })
    expect(decisions[0]).toMatchObject({ signed: false, refused: [{ factor: 'location' }] })
    expect(JSON.stringify(decisions)).not.toContain(pending)
  })

  test('do not include those of anybody else', async () => {
    const id = await decided('Deploy', 'approve')
    const bob = await createPhone(service, acme.id, 2)
    const eve = await createPhone(service, (await createTenant(service, 'globex')).id, 1)
    for (const other of [bob, eve]) {
      expect(await list(other)).toEqual({ decisions: [], grants: [], next: null })
      expect(refusal(await detail(id, other))).toEqual([404, 'not_found', []])
      const after = await fromPhone(service, 'GET', `decisions?before=${id}`, { cookie: other.cookie })
      expect(refusal(after)).toEqual([404, 'not_found', []])
    }
    expect((await fromPhone(service, 'GET', 'decisions')).status).toBe(401)
  })
})

const bulk = 6_000

/** Adds decided requests, several at the same moment, without the limits of the service. */
const addDecisions = async (count: number): Promise<void> => {
  const { row, ballot } = await service.storage.read(async (db) => ({
    row: await db.selectFrom('approvals').selectAll().executeTakeFirstOrThrow(),
    ballot: await db.selectFrom('ballots').selectAll().executeTakeFirstOrThrow(),
  }))
  const { id: _, ...values } = row
  const { id: __, ...answered } = ballot
  for (let at = 0; at < count; at += 300) {
    const made = Array.from({ length: 300 }, (___, n) => ({
      request_id: `apr_bulk${at + n}`,
      requested_at: new Date(
        Date.parse(values.requested_at) - Math.ceil((at + n + 1) / 7) * 1000,
      ).toISOString(),
    }))
    await service.storage.write(
      async (db) => {
        await db
          .insertInto('approvals')
          .values(made.map((one) => ({ ...values, ...one })))
          .execute()
        await db
          .insertInto('ballots')
          .values(made.map((one) => Object.assign({}, answered, { first_asked_by: null }, one)))
          .execute()
      },
      { org: acme.id },
    )
  }
}

describe('a long history', () => {
  test('is read page by page, each request once', async () => {
    await decided('Deploy', 'approve')
    await addDecisions(300)
    const seen: string[] = []
    for (let before = ''; ;) {
      const { decisions, next } = await list(ada, before && `?before=${before}`)
      seen.push(...decisions.map((one) => one.request_id))
      if (next === null) break
      expect(decisions).toHaveLength(30)
      before = next
    }
    expect([seen.length, new Set(seen).size]).toEqual([301, 301])
  })

  test(`of ${bulk} requests is found by its index, and not sorted, and so is who asked before`, async () => {
    await decided('Deploy', 'approve')
    await addDecisions(bulk)
    const plan = await service.explain(
      `select a.* from approvals as a inner join ballots as b on b.request_id = a.request_id
       where a.erased_at is null and a.org_id = ${acme.id} and b.org_id = ${acme.id} and b.user_id = ${ada.user}
       and a.status <> 'pending' and (b.requested_at, b.id) < ('2030-01-01', 5000)
       order by b.requested_at desc, b.id desc limit 31`,
    )
    expect(plan).toContain('ballots_history')
    expect(plan).not.toMatch(/sort|temp b-tree/i)
    expect((await list(ada, '?before=apr_bulk5900')).decisions).toHaveLength(30)
    const first = await service.explain(
      `select user_id from ballots where org_id = ${acme.id} and first_asked_by = 2 and user_id in (${ada.user}, 3)`,
    )
    expect(first).toContain('ballots_first')
  })
})

describe('one decision', () => {
  test('shows the request as it was signed, and the receipt as svc writes it', async () => {
    const id = await decided('Deploy 4.2', 'approve')
    const { attestation } = dataOf(await show(service, id))
    expect(dataOf(await detail(id))).toMatchObject({
      request_id: id,
      status: 'approved',
      action: 'Deploy 4.2',
      subject: { type: 'text', fields: expect.any(Array) },
      member: { user_id: ada.user },
      receipt: `${safeJson(attestation, 2)}\n`,
    })
  })

  test('that nobody signed has no receipt', async () => {
    const id = await asked('Deploy')
    clock.tick(6 * minute)
    const phone = await confirmed(service, ada)
    expect(dataOf(await detail(id, phone))).toMatchObject({ status: 'expired', signed: false, receipt: null })
  })

  test('stays after its texts were removed, with the digest of the receipt', async () => {
    const id = await decided('Deploy', 'approve')
    clock.tick(400 * 24 * 60 * minute)
    await sweepRetention(service.service)
    const phone = { ...ada, cookie: await cookieFor(service, ada.key) }
    expect(dataOf(await detail(id, phone))).toMatchObject({
      status: 'approved',
      ended_by: 'person',
      receipt: null,
      receipt_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      cleared_at: expect.any(String),
    })
  })
})

describe('an administrator', () => {
  test('sees who approved what in the organization, and can choose one person', async () => {
    const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
    const bob = await createPhone(service, acme.id, 3, { first_name: 'Bob' })
    const id = await decided('Deploy', 'approve')
    await decided('Restart', 'deny', bob)
    const all = dataOf(await organizationList(admin))
    expect(headlines(all)).toEqual(['Restart', 'Deploy'])
    expect(all.decisions[0].member).toMatchObject({
      user_id: bob.user,
      first_name: 'Bob',
      mobile: '••••••••0103',
    })
    expect(headlines(dataOf(await organizationList(admin, `?user_id=${ada.user}`)))).toEqual(['Deploy'])
    expect(dataOf(await detail(id, admin))).toMatchObject({
      own: false,
      member: { user_id: ada.user },
      signed: true,
    })
    expect(await list(admin)).toEqual({ decisions: [], grants: [], next: null })
  })

  test('sees what a member answered, and who else did', async () => {
    const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
    const bob = await createPhone(service, acme.id, 3, { first_name: 'Bob' })
    const approvers = [ada.mobile, bob.mobile]
    const body = { action: 'Pay', approvers }
    const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key: acme.key, body }))
    dataOf(await decide(service, request_id, ada.key))
    dataOf(await decide(service, request_id, bob.key))
    const [own] = dataOf(await organizationList(admin, `?user_id=${ada.user}`)).decisions
    expect(own).toMatchObject({ by: ['Bob Lovelace'], answer: 'approved', device: null })
    const both = ['Ada Lovelace', 'Bob Lovelace']
    expect(dataOf(await detail(request_id, admin))).toMatchObject({ by: both, device: null, own: false })
    expect(dataOf(await organizationList(admin)).decisions[0]).toMatchObject({ by: both })
  })

  test('sees the devices of a member', async () => {
    const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
    expect(dataOf(await devices(admin, ada.user))).toMatchObject({
      member: { user_id: ada.user, email: expect.stringContaining('@') },
      devices: [{ id: ada.device, name: 'Pixel', state: 'active' }],
    })
    expect(refusal(await devices(ada, admin.user))).toEqual([403, 'admin_only', []])
    const eve = await createPhone(service, (await createTenant(service, 'globex')).id, 5, { role: 'admin' })
    expect(refusal(await devices(eve, ada.user))).toEqual([404, 'not_found', []])
  })

  test('of another organization sees nothing of it', async () => {
    const id = await decided('Deploy', 'approve')
    const globex = await createTenant(service, 'globex')
    const eve = await createPhone(service, globex.id, 2, { role: 'admin' })
    expect(dataOf(await organizationList(eve, `?user_id=${ada.user}`))).toEqual({ decisions: [], next: null })
    expect(refusal(await detail(id, eve))).toEqual([404, 'not_found', []])
  })

  test('is the only one who can see this', async () => {
    expect(refusal(await organizationList(ada))).toEqual([403, 'admin_only', []])
  })
})
