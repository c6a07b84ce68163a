import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/client/rest.ts'
import { createVerifyGateway } from '../../src/client/verify-gateway.ts'
import { createVerifyCalls } from '../../src/client/verify-calls.ts'
import { json, page, type Answering } from '../fake-hosted.ts'
import { createApprover, decide, show } from '../service/approver.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService } from '../service/harness.ts'
import { failure, withHosted } from './hosted.ts'

const ask = { action: 'Deploy', approver_mobile: '+12025550101', lifetime_s: 60 }
const no = (status: number, body: object = {}): Answering => json(status, { status: 'error', ...body })
const yes = json(200, { status: 'success', message: 'OK' })

const named = (request_id: string) => json(200, { status: 'success', message: 'OK', data: { request_id } })

type Played = { validate?: Answering; verify?: Answering; first?: Answering }

/** `first` is the first response after each prompt, `validate` all others. Waits only move the clock. */
const start = async ({ validate = yes, verify = yes, first = no(409) }: Played = {}) => {
  const { client, service } = await withHosted()
  let at = Date.parse('2026-01-01T00:00:00Z')
  let isFirst = true
  service.always((request, response) => {
    const rings = request.path.endsWith('/verify-user')
    const answer = rings ? verify : isFirst ? first : validate
    isFirst = rings
    return answer(request, response)
  })
  const gateway = createVerifyGateway({
    calls: createVerifyCalls(client),
    partsOf: (mobile) => ({ country_code: mobile.slice(0, 2), mobile: mobile.slice(2) }),
    now: () => new Date(at),
    sleep: async (ms) => void (at += ms),
  })
  return { gateway, service, pass: (seconds: number): void => void (at += seconds * 1000) }
}

describe('a service without approvals', () => {
  test('prompts once with the parts of the number, and is polled with the full number', async () => {
    const { gateway, service } = await start()
    const { request_id, status } = await gateway.request(ask)
    expect(status).toBe('pending')
    expect(await gateway.wait(request_id, 60)).toMatchObject({ status: 'approved', attestation: null })
    expect(service.seen.map(({ path, body }) => [path.split('/api')[1], JSON.parse(body)])).toEqual([
      ['/verify-user', { country_code: '+1', mobile: '2025550101' }],
      ['/validate/global/auth', { mobile: '+12025550101' }],
      ['/validate/global/auth', { mobile: '+12025550101' }],
    ])
    expect(gateway.boundToAction).toBe(false)
  })

  test('is not trusted when it reports success before anybody can have answered', async () => {
    const { gateway } = await start({ first: yes })
    expect((await failure(gateway.request(ask))).code).toBe('success_too_soon')
    // The prompt is on the phone, and its response must not count for another request.
    expect((await failure(gateway.request(ask))).code).toBe('one_at_a_time')
  })

  test('is not trusted when its first meaningful response is a success', async () => {
    const { gateway } = await start({ first: no(503) })
    const { request_id } = await gateway.request(ask)
    expect((await failure(gateway.wait(request_id, 60))).code).toBe('success_too_soon')
    expect((await gateway.status(request_id)).status).toBe('expired')
  })

  test('is not trusted when a success names another prompt', async () => {
    const { gateway } = await start({ verify: named('v-1'), validate: named('v-2') })
    const { request_id } = await gateway.request(ask)
    expect((await failure(gateway.wait(request_id, 60))).message).toContain('another request')
  })

  test.each([
    ['no body', json(200, undefined)],
    ['a web page', page()],
    ['a missing route', no(404)],
  ])('returns neither an approval nor a denial when it only sends %s', async (_, validate) => {
    const { gateway } = await start({ validate })
    const { request_id } = await gateway.request(ask)
    expect((await failure(gateway.wait(request_id, 60))).message).toContain('does not report the decision')
  })

  test.each([
    ['a word for a denial', json(200, { status: 'failed' }), 'denied'],
    ['a 2xx that is not a success', json(200, { status: 'ok' }), 'denied'],
    ['403', no(403), 'denied'],
    ['a code', no(400, { data: { code: 'denied' } }), 'denied'],
    ['410', no(410), 'expired'],
  ] as const)('does not approve with %s', async (_, validate, status) => {
    const { gateway } = await start({ validate })
    const { request_id } = await gateway.request(ask)
    expect((await gateway.wait(request_id, 60)).status).toBe(status)
  })

  test.each([
    ['409', no(409)],
    ['a word', json(200, { status: 'pending' })],
    ['503', no(503)],
  ])('keeps waiting until the timeout while %s reports that nobody has decided', async (_, validate) => {
    const { gateway } = await start({ validate })
    const { request_id } = await gateway.request(ask)
    expect((await gateway.wait(request_id, 6)).status).toBe('pending')
    expect((await gateway.wait(request_id, 120)).status).toBe('expired')
  })

  test('is not trusted when it answers too late or after a withdrawal', async () => {
    const { gateway, pass } = await start()
    const late = await gateway.request(ask)
    pass(61)
    expect((await gateway.status(late.request_id)).status).toBe('expired')
    pass(600)
    const withdrawn = await gateway.request(ask)
    await gateway.cancel(withdrawn.request_id)
    expect((await gateway.status(withdrawn.request_id)).status).toBe('expired')
  })

  test('prompts one person for one thing at a time, and remembers a prompt that was never answered', async () => {
    const { gateway, pass } = await start({ validate: no(409) })
    const first = await gateway.request(ask)
    expect((await failure(gateway.request(ask))).code).toBe('one_at_a_time')
    await gateway.request({ ...ask, approver_mobile: '+12025550102' })
    await gateway.cancel(first.request_id)
    pass(120)
    expect((await failure(gateway.request(ask))).code).toBe('one_at_a_time')
    pass(600)
    expect((await gateway.request(ask)).status).toBe('pending')
  })

  test('can prompt again once the person has decided', async () => {
    const { gateway } = await start()
    const { request_id } = await gateway.request(ask)
    await gateway.wait(request_id, 60)
    expect((await gateway.request(ask)).status).toBe('pending')
  })

  test('explains why no prompt was sent, and stores nothing', async () => {
    const { gateway } = await start({ verify: no(404, { message: 'No such user' }) })
    expect((await failure(gateway.request(ask))).message).toBe('No one was notified: No such user')
    expect((await failure(gateway.request(ask))).message).toMatch(/No such user/)
  })

  test('rejects requests that could not be checked, before a prompt', async () => {
    const { gateway, service } = await start()
    for (const more of [{ number: true }, { factors: ['location' as const] }])
      expect((await failure(gateway.request({ ...ask, ...more }))).code).toBe('not_supported')
    expect(service.seen).toEqual([])
  })
})

/** The service of svc, with a prompt of the gateway on the phone of Ada. */
const openOurs = async () => {
  const service = await startTestService({ dev: true })
  onTestFinished(() => service.close())
  const acme = await createTenant(service, 'acme')
  const ada = await createApprover(service, acme.id, 1)
  const client = createClient({
    baseUrl: 'http://127.0.0.1:8080/admin/public/api',
    apiKey: async () => acme.key,
    transport: async ({ url, body = null, ...request }) => {
      const response = await service.app.request(url, { ...request, body })
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }
    },
  })
  const gateway = createVerifyGateway({
    calls: createVerifyCalls(client),
    partsOf: (mobile) => ({ country_code: mobile.slice(0, 2), mobile: mobile.slice(2) }),
  })
  const pending = await gateway.request({ ...ask, approver_mobile: ada.mobile })
  const { request_id } = service.notified[0]!
  return { service, acme, ada, gateway, pending, rung: request_id }
}

describe('the service of svc, through the same two routes', () => {
  test('is pending until the person approves, and keeps the result', async () => {
    const { service, ada, gateway, pending, rung, acme } = await openOurs()
    expect(dataOf(await show(service, rung, acme.key)).action).toBe('Verify your identity for acme')
    expect((await gateway.status(pending.request_id)).status).toBe('pending')
    await decide(service, rung, ada.key)
    for (let i = 0; i < 2; i++) expect((await gateway.status(pending.request_id)).status).toBe('approved')
  })

  test('returns its own prompt: one that a newer prompt of the same key replaced has ended', async () => {
    const { service, ada, gateway, pending, acme } = await openOurs()
    const body = { country_code: '+1', mobile: '2025550101' }
    const other = dataOf(await service.call('POST', '/verify-user', { key: acme.key, body })).request_id
    await decide(service, other, ada.key)
    expect((await gateway.status(pending.request_id)).status).toBe('expired')
  })

  test('returns the denial of its own prompt', async () => {
    const { service, ada, gateway, pending, rung } = await openOurs()
    await decide(service, rung, ada.key, { decision: 'deny' })
    expect((await gateway.status(pending.request_id)).status).toBe('denied')
  })
})
