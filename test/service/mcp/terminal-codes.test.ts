import { sha256 } from '../../../src/core/ids.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { dataOf, refusal } from '../fixtures.ts'
import { confirmed, fromPhone, type Phone } from '../page/phone.ts'
import { createRule } from '../rule-fixture.ts'
import { consentFrom, exchange, sendForm } from './oauth-client.ts'
import { acme, ada, clock, installHooks, service } from './oauth-stage.ts'
import { createAdministrator, everything, installation, type Keys, signIn, whoIs } from './terminal-stage.ts'

installHooks()

let grace: Phone
beforeEach(async () => void (grace = await createAdministrator(2)))

const start = async (more: Record<string, string> = {}) => {
  const fields = { client_id: 'svc', installation: installation('a'), host: 'build-7', ...more }
  const { status, text } = await sendForm(service, '/device_authorization', fields)
  return { status, ...JSON.parse(text) }
}
const type = (code: string, { cookie }: Phone) =>
  fromPhone(service, 'POST', 'consent/code', { cookie, body: { code } })
const poll = async (device_code: string): Promise<Keys & { error?: string }> => {
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  const fields = { grant_type, client_id: 'svc', device_code, redirect_uri: undefined, resource: undefined }
  return JSON.parse((await exchange(service, fields)).text)
}
const consent = async (code: string, phone: Phone) =>
  consentFrom(service, phone, dataOf(await type(code, phone)).request, 'svc on build-7')

describe('a terminal without a browser', () => {
  test('waits until its person has typed the code and consented; then it asks and reads for an hour', async () => {
    const { user_code, device_code } = await start()
    expect(user_code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
    expect((await poll(device_code)).error).toBe('authorization_pending')
    expect(dataOf(await consent(user_code.toLowerCase().replace('-', ' '), grace)).redirect_to).toBe('')
    const keys = await poll(device_code)
    expect(dataOf(await whoIs(keys.access_token)).scopes).toEqual(['ask'])
    expect(dataOf(await whoIs(keys.management_token!)).scopes).toEqual(['read'])
    clock.tick(3_600_000)
    expect(refusal(await whoIs(keys.access_token))[1]).toBe('signed_out')
  })

  test('shows the person which machine it is, and where', async () => {
    const { user_code } = await start()
    const { request } = dataOf(await type(user_code, ada))
    const read = await fromPhone(service, 'POST', 'consent/request', {
      cookie: ada.cookie,
      body: { request },
    })
    expect(dataOf(read)).toMatchObject({
      host: 'build-7',
      address: '127.0.0.1',
      redirect_host: null,
      scopes: ['ask'],
      lasts_s: 3_600,
    })
  })

  test('gets nothing from the code of another terminal, whatever the store says', async () => {
    const [own, other] = [await start(), await start({ host: 'build-8' })]
    await service.storage.write(
      async (db) => {
        const rows = await db.selectFrom('device_codes').select(['device_hash', 'request']).execute()
        const [first, second] = [own, other].map(({ device_code }) =>
          rows.find(({ device_hash }) => device_hash === sha256(device_code)),
        )
        await db
          .updateTable('device_codes')
          .set({ request: second!.request })
          .where('device_hash', '=', first!.device_hash)
          .execute()
      },
      { org: 0 },
    )
    expect(refusal(await type(own.user_code, ada))[1]).toBe('not_found')
    expect((await type(other.user_code, ada)).status).toBe(200)
  })

  test('does not ask where a rule wants a person who confirmed the key', async () => {
    await createRule(service, acme.id, {
      members: [ada.user],
      match: { type: 'text' },
      requester: 'confirmed',
    })
    const body = { action: 'Deploy 4.2' }
    const { user_code, device_code } = await start()
    dataOf(await consent(user_code, grace))
    const ask = (key: string) => service.call('POST', '/svc/v1/approvals', { key, body })
    expect(refusal(await ask((await poll(device_code)).access_token))[1]).toBe('requester_not_confirmed')
    expect(dataOf(await ask((await signIn(grace)).access_token)).status).toBe('pending')
  })

  test('gets no more, whatever it wants', async () => {
    const { user_code, device_code } = await start({ scope: everything })
    dataOf(await consent(user_code, grace))
    expect(dataOf(await whoIs((await poll(device_code)).management_token!)).scopes).toEqual(['read'])
  })

  test('gets its keys once', async () => {
    const { user_code, device_code } = await start()
    dataOf(await consent(user_code, grace))
    const keys = await poll(device_code)
    expect((await poll(device_code)).error).toBe('invalid_grant')
    expect((await whoIs(keys.access_token)).status).toBe(401)
  })

  test('does not reach the keys of the same installation with a browser', async () => {
    const own = await signIn(grace)
    const { user_code, device_code } = await start()
    dataOf(await consent(user_code, grace))
    await poll(device_code)
    for (const key of [own.access_token, own.management_token!]) expect((await whoIs(key)).status).toBe(200)
  })

  test('tells every device of the person', async () => {
    const { user_code } = await start()
    dataOf(await consent(user_code, grace))
    const rows = dataOf(await service.call('GET', `/svc/v1/audit?org_id=${acme.id}`)) as { action: string }[]
    expect(rows.map(({ action }) => action)).toContain('giveConsent')
  })
})

describe('a code', () => {
  test('is guessed at most ten times an hour by a person', async () => {
    await start()
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) statuses.push((await type('BCDF-GHJK', ada)).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), 429])
  })

  test('ends after ten minutes, and with its use', async () => {
    const [one, other] = [await start(), await start()]
    dataOf(await consent(one.user_code, grace))
    expect((await type(one.user_code, grace)).status).toBe(404)
    clock.tick(600_000)
    expect((await type(other.user_code, await confirmed(service, grace))).status).toBe(404)
    expect((await poll(other.device_code)).error).toBe('expired_token')
  })

  test('ends for everybody when a person refuses it, and its terminal learns why', async () => {
    const { user_code, device_code } = await start()
    const { request } = dataOf(await type(user_code, grace))
    const refuse = { cookie: grace.cookie, body: { request } }
    dataOf(await fromPhone(service, 'POST', 'consent/refusal', refuse))
    expect((await poll(device_code)).error).toBe('access_denied')
    expect((await type(user_code, ada)).status).toBe(404)
    expect((await consentFrom(service, ada, request, 'svc on build-7')).status).toBe(410)
    expect((await poll(device_code)).error).toBe('access_denied')
  })

  test('is not a code for a browser, and the code for a browser is none for a terminal', async () => {
    const { user_code, device_code } = await start()
    dataOf(await consent(user_code, grace))
    expect((await poll(`${device_code}x`)).error).toBe('expired_token')
    const fields = { client_id: 'svc', redirect_uri: '', code: device_code, resource: undefined }
    expect((await exchange(service, fields)).status).toBe(400)
  })

  test('is only for svc', async () => {
    expect((await start({ client_id: 'svc_client_other' })).error).toBe('invalid_client')
    expect((await start({ installation: 'short' })).error).toBe('invalid_request')
  })
})
