import { describe, expect, test } from 'vitest'
import { readContext } from '../../../src/receipt/context.ts'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { ceremonyOf, decide, show } from '../approver.ts'
import { day, minute } from '../clock.ts'
import { dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { connect } from '../mcp/oauth-client.ts'
import { fromPhone, readInbox } from '../page/phone.ts'
import {
  acme,
  ada,
  addGroup,
  addRule,
  asks,
  bob,
  breakGlass,
  carol,
  clock,
  dave,
  destroy,
  grace,
  installHooks,
  reason,
  service,
  terminalOf,
} from './break-glass-stage.ts'
import { command } from './command-subject.ts'

installHooks()

type Lines = { lines: { group: string; need: number; people: { user_id: string }[] }[] }
const asked = ({ lines }: Lines) =>
  lines.map(({ group, need, people }) => [group, need, people.map(({ user_id }) => user_id)])

const named = (...people: { user: string }[]) => people.map(({ user }) => `Ada Lovelace (user ${user})`)

describe('a request that breaks the glass', () => {
  test('asks one member of the emergency group, also the requester, for a short time', async () => {
    const record = dataOf(await breakGlass({ lifetime_s: 3600 }))
    expect(asked(record)).toEqual([['oncall', 1, [ada.user, dave.user]]])
    expect(record.rules).toEqual(['destroy'])
    expect(Date.parse(record.expires_at) - Date.parse(record.requested_at)).toBe(15 * minute)
    expect(record.break_glass).toEqual({
      reason,
      skipped: [bob.user, carol.user],
      told: [ada.user, bob.user, carol.user, grace.user],
    })
    dataOf(await decide(service, record.request_id, ada.key))
    const body = { digest: record.subject.digest }
    const path = `/svc/v1/approvals/${record.request_id}/consume`
    expect(dataOf(await service.call('POST', path, { key: asks, body })).used_at).not.toBeNull()
  })

  test('asks one member of each group that rules name, and requires the number of a rule', async () => {
    await addGroup('net', [dave.user, bob.user])
    const more = { who: ['@dba'], break_glass: '@net', number: true }
    await addRule({ name: 'prod', match: { type: 'command', cwd: ['/srv/prod'] }, ...more })
    const record = dataOf(await breakGlass())
    // Bob is asked himself.
    expect(record.break_glass.skipped).toEqual([carol.user])
    expect(asked(record).map(([group, need]) => [group, need])).toEqual([
      ['oncall', 1],
      ['net', 1],
    ])
    expect(record.number).toMatch(/^\d{2}$/)
  })

  test('says so in what people sign, and is a receipt only for whoever allows it', async () => {
    const { request_id } = dataOf(await breakGlass())
    const { contexts } = await ceremonyOf(service, request_id, dave.key)
    const context = readContext(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    expect(context.break_glass).toEqual({ reason, skipped: [bob.user, carol.user] })
    const { attestation } = dataOf(await decide(service, request_id, dave.key))
    const { body: jwks } = await service.call('GET', '/.well-known/jwks.json', { key: null })
    const ours = { issuer: service.service.publicUrl, organization: 'acme' }
    const verify = (more: object) =>
      verifyReceipt(attestation, jwks, { ...ours, ...more }, new Date(clock.iso()))
    const refused = await verify({})
    expect(refused.valid).toBe(false)
    expect(refused.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['break glass'])
    const { valid, facts } = await verify({ allowBreakGlass: true })
    expect(valid).toBe(true)
    expect(facts[0]).toMatch(/^Break-glass: the people whom the rules name were not asked/)
  })

  test('names on the page who is skipped and who was told', async () => {
    dataOf(await breakGlass())
    const [request] = (await readInbox(service, dave)).requests
    expect(request.break_glass).toEqual({
      reason,
      skipped: named(bob, carol),
      told: named(ada, bob, carol, grace),
    })
  })
})

describe('the glass stays whole', () => {
  test('for everybody but a signed-in person', async () => {
    const body = { name: 'ci', org_id: acme.id, scopes: ['ask'], owner_user_id: ada.user }
    const owned = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
    const agent = await connect(service, ada)
    for (const key of [owned, acme.key])
      expect(await refusedWithoutTrace(service, () => breakGlass({}, key))).toEqual([
        403,
        'break_glass_not_signed_in',
        [],
      ])
    expect((await breakGlass({}, agent)).status).toBe(401)
  })

  test('unless every rule that holds the request allows it', async () => {
    await addRule({ name: 'strict', match: { type: 'command' }, who: ['@dba'] })
    const answer = await breakGlass()
    expect(refusal(answer)).toEqual([409, 'break_glass_not_allowed', []])
    expect(answer.body.message).toContain('strict')
  })

  test('where no rule holds the request', async () => {
    expect(refusal(await breakGlass({ subject: command('ls') }))[1]).toBe('break_glass_not_allowed')
  })

  test('for calls of svc', async () => {
    const data = { organization: { id: String(acme.id), slug: 'acme' }, operation: 'deleteUser', body: {} }
    const subject = { type: 'request', data }
    expect(refusal(await breakGlass({ subject }))[1]).toBe('break_glass_not_allowed')
  })

  test('beside people whom the requester names', async () => {
    expect(refusal(await breakGlass({ approvers: [dave.mobile] }))).toEqual([
      422,
      'invalid_field',
      ['approvers'],
    ])
  })

  test('if a message cannot be queued', async () => {
    await service.runSql('alter table outbox rename to outbox_gone')
    const { status } = await breakGlass()
    expect(status).toBeGreaterThanOrEqual(500)
    await service.runSql('alter table outbox_gone rename to outbox')
    expect((await readInbox(service, dave)).requests).toEqual([])
    dataOf(await breakGlass())
  })

  test('for who broke it within a day, until that led to nothing', async () => {
    const first = dataOf(await breakGlass())
    const again = await breakGlass()
    expect(refusal(again)).toEqual([409, 'break_glass_unreviewed', []])
    expect(again.body.message).toContain(first.request_id)
    dataOf(await decide(service, first.request_id, dave.key, { decision: 'deny' }))
    const second = dataOf(await breakGlass())
    dataOf(await decide(service, second.request_id, dave.key))
    expect(refusal(await breakGlass())[1]).toBe('break_glass_unreviewed')
    clock.tick(day + 1)
    dataOf(await breakGlass({}, await terminalOf(ada)))
  })

  test('after three times within a day that somebody approved, for everybody', async () => {
    for (const phone of [ada, dave, grace]) {
      const { request_id } = dataOf(await breakGlass({}, await terminalOf(phone)))
      dataOf(await decide(service, request_id, (phone === dave ? ada : dave).key))
      clock.tick(11 * minute)
    }
    const others = await terminalOf(bob)
    expect(await refusedWithoutTrace(service, () => breakGlass({}, others))).toEqual([
      409,
      'break_glass_exhausted',
      [],
    ])
  })

  test('for one person after five requests within a day, which notified everybody, and for nobody else', async () => {
    for (let n = 0; n < 5; n++) {
      const { request_id } = dataOf(await breakGlass())
      dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { key: asks, body: {} }))
      clock.tick(11 * minute)
    }
    const refused = await refusedWithoutTrace(service, () => breakGlass())
    expect(refused).toEqual([409, 'break_glass_asked_often', []])
    dataOf(await breakGlass({}, await terminalOf(dave)))
  })

  test('where nobody approves their own requests, for the requester alone', async () => {
    const policy = { not_requester: true }
    dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } }))
    expect(asked(dataOf(await breakGlass()))).toEqual([['oncall', 1, [dave.user]]])
  })
})

test('without an emergency, the rule asks whom it names', async () => {
  const body = { subject: destroy }
  const record = dataOf(await service.call('POST', '/svc/v1/approvals', { key: asks, body }))
  expect(asked(record)).toEqual([['dba', 1, [bob.user, carol.user]]])
  expect(record.break_glass).toBeUndefined()
  expect(dataOf(await show(service, record.request_id)).break_glass).toBeUndefined()
  expect(dataOf(await fromPhone(service, 'GET', 'sessions', dave)).sessions[0].requests).toEqual([])
})
