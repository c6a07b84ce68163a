import { describe, expect, test } from 'vitest'
import { answerTo, createPhone, fromPhone } from '../page/phone.ts'
import { dataOf } from '../fixtures.ts'
import { connect, consentFrom, origin } from './oauth-client.ts'
import { acme, ada, clock, prepare, service, installHooks } from './oauth-stage.ts'
import { codeFrom, installation, tokenFor } from './terminal-stage.ts'

installHooks()

describe('consent', () => {
  test('shows who asks, for what, and where the answer goes', async () => {
    const request = await prepare()
    const body = { request }
    const shown = dataOf(await fromPhone(service, 'POST', 'consent/request', { cookie: ada.cookie, body }))
    expect(shown).toEqual({
      client_name: 'Robo Coder',
      redirect_host: '127.0.0.1:5555',
      organization: 'acme',
      name: 'Robo Coder',
      scopes: ['ask'],
      lasts_s: 7_776_000,
      host: null,
      address: null,
    })
  })

  test('requires the device, not only its session', async () => {
    const request = await prepare()
    const response = { id: 'x', response: {} }
    const body = { request, name: 'Coder', scopes: ['ask'], challenge: 'x', response }
    expect((await fromPhone(service, 'POST', 'consent', { cookie: ada.cookie, body })).status).toBe(410)
  })

  test('is bound to the request, the name and the person, and counts once', async () => {
    const [request, other] = [await prepare(), await prepare()]
    const eve = await createPhone(service, acme.id, 2)
    const begin = async () =>
      dataOf(
        await fromPhone(service, 'POST', 'consent/challenge', {
          cookie: ada.cookie,
          body: { request, name: 'Coder', scopes: ['ask'] },
        }),
      ).challenge as string
    const give = async (change: object, cookie = ada.cookie) => {
      const challenge = await begin()
      const shown = { request, name: 'Coder', scopes: ['ask'] }
      const body = { ...shown, challenge, response: answerTo(challenge, ada.key), ...change }
      return (await fromPhone(service, 'POST', 'consent', { cookie, body })).status
    }
    expect(await give({ request: other })).toBe(410)
    expect(await give({ name: 'Payroll' })).toBe(410)
    expect(await give({ scopes: ['ask', 'read'] })).toBe(410)
    expect(await give({}, eve.cookie)).toBe(410)
    const challenge = await begin()
    const body = {
      request,
      name: 'Coder',
      scopes: ['ask'],
      challenge,
      response: answerTo(challenge, ada.key),
    }
    expect((await fromPhone(service, 'POST', 'consent', { cookie: ada.cookie, body })).status).toBe(200)
    expect((await fromPhone(service, 'POST', 'consent', { cookie: ada.cookie, body })).status).toBe(410)
  })

  test('is refused with access_denied, the state and the issuer', async () => {
    const request = await prepare()
    const { redirect_to } = dataOf(await fromPhone(service, 'POST', 'consent/refusal', { body: { request } }))
    const { searchParams } = new URL(redirect_to as string)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'abc',
      iss: origin,
    })
  })

  test('ends with the request after ten minutes', async () => {
    const request = await prepare()
    clock.tick(10 * 60_000)
    const body = { request }
    expect((await fromPhone(service, 'POST', 'consent/request', { cookie: ada.cookie, body })).status).toBe(
      410,
    )
  })

  test('stops at 20 agents of one person', async () => {
    for (let n = 0; n < 20; n++) await connect(service, ada)
    const answer = await consentFrom(service, ada, await prepare())
    expect([answer.status, answer.body.data.code]).toEqual([409, 'too_many_agents'])
  })

  test('stops at 20 terminals of one person whose codes are exchanged later', async () => {
    const codes = []
    for (let n = 0; n < 21; n++)
      codes.push(await codeFrom(ada, { id: installation(String.fromCodePoint(97 + n)), scope: 'ask' }))
    const answers = []
    for (const { code, code_verifier } of codes) answers.push(await tokenFor(code, code_verifier))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(JSON.parse(answers[20]!.text)).toEqual({
      error: 'invalid_grant',
      error_description: 'You have connected 20 agents and terminals, the most that one person can have',
    })
    const again = await codeFrom(ada, { id: installation('a'), scope: 'ask' })
    expect((await tokenFor(again.code, again.code_verifier)).status).toBe(200)
  })
})
