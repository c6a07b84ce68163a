import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Adapter, Outcome } from '../../../src/service/delivery/adapter.ts'
import { enqueue } from '../../../src/service/delivery/enqueue.ts'
import type { Message } from '../../../src/service/call/message.ts'
import { createClock, day, minute } from '../clock.ts'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let clock: ReturnType<typeof createClock>
let service: TestService
let acme: { id: number; key: string }
let foreign: { id: number; key: string }
let outcomes: Outcome[]
const adapter: Adapter = async () => outcomes.shift() ?? { state: 'sent', provider_id: 'P1' }
beforeEach(async () => {
  clock = createClock()
  outcomes = []
  service = await startTestService({ now: clock.now, adapters: { email: adapter, sms: adapter } })
  acme = await createTenant(service, 'acme')
  foreign = await createTenant(service, 'foreign')
})
afterEach(() => service.close())

const accept = async (more: Partial<Message> = {}): Promise<string> => {
  const id = await service.storage.write(
    (db) =>
      enqueue(
        { db, now: clock.iso(), keyring: service.keyring },
        { org_id: acme.id, channel: 'email', kind: 'notice', to: 'ada@acme.example', text: 'x', ...more },
      ),
    { org: 0 },
  )
  await service.delivered()
  return id
}
const dead = (): Outcome[] => Array.from({ length: 15 }, () => ({ state: 'retry', error: 'not now' }))
const letDie = async (more: Partial<Message> = {}): Promise<string> => {
  outcomes = dead()
  const id = await accept(more)
  for (let i = 0; i < 15; i++) {
    clock.tick(60 * minute)
    await service.delivered()
  }
  return id
}
const list = async (query = '', key?: string) =>
  dataOf(await service.call('GET', `/svc/v1/outbox${query}`, { key }))
const show = (id: string, key?: string) => service.call('GET', `/svc/v1/outbox/${id}`, { key })
const again = (id: string, key?: string) =>
  service.call('POST', `/svc/v1/outbox/${id}/retry`, { key, body: {} })
const channels = async (key?: string) => dataOf(await service.call('GET', '/svc/v1/delivery', { key }))
const ids = (rows: { message_id: string }[]): string[] => rows.map((row) => row.message_id)

describe('the outbox', () => {
  test('shows the state of each message, without its text and recipient', async () => {
    const id = await accept({ to: 'ada.lovelace@acme.example', text: 'a secret', subject: 'hush' })
    const record = dataOf(await show(id))
    expect(record).toEqual({
      message_id: id,
      org_id: acme.id,
      channel: 'email',
      kind: 'notice',
      recipient: 'a•••@acme.example',
      state: 'sent',
      attempts: 1,
      error: null,
      provider_id: 'P1',
      next_at: null,
      expires_at: null,
      retryable: false,
      created_at: clock.iso(),
      updated_at: clock.iso(),
    })
    expect(await list()).toEqual([record])
  })

  test('lists by organization, state, channel and kind, and page by page', async () => {
    const sent = await accept()
    outcomes = [{ state: 'failed', error: 'no' }]
    const failed = await accept({ channel: 'sms', kind: 'otp', to: '+12025550101' })
    const own = await accept({ org_id: 0, kind: 'support' })
    expect(ids(await list())).toEqual([own, failed, sent])
    expect(ids(await list(`?org_id=${acme.id}`))).toEqual([failed, sent])
    expect(ids(await list('?org_id=0'))).toEqual([own])
    expect(ids(await list('?state=failed'))).toEqual([failed])
    expect(ids(await list('?channel=email&kind=support'))).toEqual([own])
    const { body, headers } = await service.call('GET', '/svc/v1/outbox?limit=2')
    expect(ids(body.data)).toEqual([own, failed])
    expect(headers.link).toContain('rel="next"')
    expect(refusal(await service.call('GET', '/svc/v1/outbox?state=lost'))).toEqual([
      422,
      'invalid_field',
      ['state'],
    ])
    expect(refusal(await service.call('GET', '/svc/v1/outbox?org_id=99'))[0]).toBe(404)
  })

  test('shows a key of an organization only its own messages', async () => {
    const mine = await accept()
    const theirs = await accept({ org_id: foreign.id })
    const service0 = await accept({ org_id: 0 })
    expect(ids(await list('', acme.key))).toEqual([mine])
    for (const id of [theirs, service0]) {
      expect(refusal(await show(id, acme.key))).toEqual([404, 'not_found', []])
      expect(refusal(await again(id, acme.key))).toEqual([404, 'not_found', []])
    }
    for (const org of [foreign.id, 0])
      expect((await service.call('GET', `/svc/v1/outbox?org_id=${org}`, { key: acme.key })).status).toBe(404)
  })
})

describe('a retry', () => {
  test('sends a message of the organization that was given up, and is audited', async () => {
    const id = await letDie()
    expect(dataOf(await show(id))).toMatchObject({ state: 'dead', retryable: true, error: 'not now' })
    expect(dataOf(await again(id, acme.key))).toMatchObject({ state: 'queued', attempts: 0 })
    await service.delivered()
    expect(dataOf(await show(id))).toMatchObject({ state: 'sent', attempts: 1, retryable: false })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['retryMessage', `message:${id}`, ['state']])
  })

  test('of a message between two attempts sends it immediately', async () => {
    outcomes = [{ state: 'retry', error: 'not now', after_ms: 60 * minute }]
    const id = await accept()
    expect(dataOf(await show(id))).toMatchObject({ state: 'queued' })
    dataOf(await again(id))
    await service.delivered()
    expect(dataOf(await show(id))).toMatchObject({ state: 'sent' })
  })

  test('is refused with a reason if nothing is left to send', async () => {
    const sent = await accept()
    outcomes = [{ state: 'failed', error: 'no' }]
    const failed = await accept()
    const over = await accept({ expires_at: new Date(Date.parse(clock.iso()) - 1).toISOString() })
    const old = await letDie()
    clock.tick(day + 1)
    await service.outbox.start({ alone: true })
    await service.delivered()
    for (const [id, code] of [
      [sent, 'already_sent'],
      [failed, 'refused_for_good'],
      [over, 'message_erased'],
      [old, 'message_erased'],
    ] as const)
      expect(refusal(await again(id))).toEqual([409, code, []])
    expect(refusal(await again('msg_unknown'))).toEqual([404, 'not_found', []])
  })
})

const send = (body: object, key?: string) => service.call('POST', '/svc/v1/delivery/test', { body, key })

describe('a test of a channel', () => {
  test('sends one message and returns its id', async () => {
    const { message_id } = dataOf(await send({ channel: 'sms', to: '+1 (202) 555-0101' }))
    await service.delivered()
    expect(dataOf(await show(message_id))).toMatchObject({
      org_id: 0,
      kind: 'test',
      recipient: '••••••••0101',
      state: 'sent',
    })
  })

  test('that fails is not retried', async () => {
    outcomes = [{ state: 'retry', error: 'the mail server refused the user or the password' }]
    const { message_id } = dataOf(await send({ channel: 'email', to: 'ada@acme.example' }))
    await service.delivered()
    expect(dataOf(await show(message_id))).toMatchObject({ state: 'dead', attempts: 1 })
  })

  test.each([
    ['email', 'acme'],
    ['email', 'ada@acme.example, eve@acme.example'],
    ['sms', '2025550101'],
    ['push', '7'],
    ['push', 'ada@acme.example'],
  ])('by %s to %s is refused before anything is stored', async (channel, to) => {
    expect(refusal(await send({ channel, to }))).toEqual([422, 'invalid_field', ['to']])
    expect(await list()).toEqual([])
  })

  test('requires an operator key', async () => {
    expect(refusal(await send({ channel: 'sms', to: '+12025550101' }, acme.key))).toEqual([
      403,
      'operator_only',
      [],
    ])
  })

  test('by a channel that is not set up reports what to set up', async () => {
    const bare = await startTestService({ channels: ['push'] })
    const answer = await bare.call('POST', '/svc/v1/delivery/test', {
      body: { channel: 'email', to: 'a@b.example' },
    })
    expect(refusal(answer)).toEqual([409, 'delivery_not_configured', []])
    expect(answer.body.data.hint).toContain('SVC_SMTP_URL')
    await bare.close()
  })
})

test("the channels show what is set up and the counts of the caller's messages", async () => {
  await accept()
  outcomes = [
    { state: 'failed', error: 'refused' },
    { state: 'retry', error: 'later' },
  ]
  await accept()
  await accept()
  expect(await channels(acme.key)).toEqual([
    { channel: 'email', ready: true, only_logged: false, waiting: 1, given_up: 1 },
    { channel: 'sms', ready: true, only_logged: false, waiting: 0, given_up: 0 },
    { channel: 'push', ready: true, only_logged: false, waiting: 0, given_up: 0 },
    { channel: 'webhook', ready: true, only_logged: false, waiting: 0, given_up: 0 },
  ])
  expect(await channels()).toEqual(await channels(acme.key))
  expect((await channels(foreign.key))[0]).toMatchObject({ waiting: 0, given_up: 0 })
  clock.tick(day)
  expect((await channels())[0]).toMatchObject({ waiting: 1, given_up: 0 })
})

test('a channel that only writes to the log is shown as such', async () => {
  const dev = await startTestService({ onlyLogged: ['sms'] })
  const rows = dataOf(await dev.call('GET', '/svc/v1/delivery')) as {
    channel: string
    only_logged: boolean
  }[]
  expect(rows.filter(({ only_logged }) => only_logged).map(({ channel }) => channel)).toEqual(['sms'])
  await dev.close()
})

test('a channel that is not set up is shown as such', async () => {
  const bare = await startTestService({ channels: ['push'] })
  const rows = dataOf(await bare.call('GET', '/svc/v1/delivery')) as { channel: string; ready: boolean }[]
  expect(rows.filter(({ ready }) => ready).map(({ channel }) => channel)).toEqual(['push'])
  await bare.close()
})
