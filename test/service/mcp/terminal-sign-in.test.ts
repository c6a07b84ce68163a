import { beforeEach, describe, expect, test } from 'vitest'
import { ask as askPerson, decide, post, show, signed } from '../approver.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { answerTo, fromPhone, type Phone, registerPhone } from '../page/phone.ts'
import { sendForm } from './oauth-client.ts'
import { acme, ada, clock, installHooks, service } from './oauth-stage.ts'
import {
  askToSignIn,
  codeFrom,
  createAdministrator,
  everything,
  installation,
  signIn,
  tokenFor,
  whoIs,
} from './terminal-stage.ts'

installHooks()

let grace: Phone
beforeEach(async () => void (grace = await createAdministrator(2)))

const ask = (key: string, to: Phone = ada, more: object = {}) => askPerson(service, to, more, key)
const statusOf = async (key: string, id: string) =>
  dataOf(await service.call('GET', `/svc/v1/approvals/${id}`, { key })).status

const step = (path: string, body: object) => fromPhone(service, 'POST', path, { cookie: ada.cookie, body })

describe('the consent', () => {
  test('says which machine asks, what the person gives it, and for how long', async () => {
    const { request } = await askToSignIn()
    const read = async ({ cookie }: Phone) =>
      dataOf(await fromPhone(service, 'POST', 'consent/request', { cookie, body: { request } }))
    expect(await read(grace)).toEqual({
      client_name: 'svc',
      redirect_host: '127.0.0.1:4321',
      organization: 'acme',
      name: 'svc on ada-laptop',
      scopes: everything.split(' '),
      lasts_s: 28_800,
      host: 'ada-laptop',
      address: null,
    })
    expect((await read(ada)).scopes).toEqual(['ask'])
  })

  test('gives nothing that the page did not show, to somebody who was promoted meanwhile', async () => {
    const { request } = await askToSignIn()
    const shown = { request, name: 'Laptop', scopes: ['ask'] }
    await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: ada.user } })
    const { challenge } = dataOf(await step('consent/challenge', shown))
    const given = { ...shown, challenge, response: answerTo(challenge, ada.key) }
    expect(refusal(await step('consent', given)).slice(0, 2)).toEqual([409, 'role_changed'])
  })

  test.each([
    [{ scope: 'ask app' }, 'invalid_scope'],
    [{ scope: 'read' }, 'invalid_scope'],
    [{ id: 'short' }, 'invalid_request'],
    [{ host: 'ada\u202e' }, 'invalid_request'],
  ])('is not asked for %j', async (asked, error) => {
    const { answer } = await askToSignIn(asked)
    expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe(error)
  })
})

describe('a terminal', () => {
  test('of an administrator gets a key that asks and one that manages, owned by the person', async () => {
    const keys = await signIn(grace)
    const [asks, manages] = [
      dataOf(await whoIs(keys.access_token)),
      dataOf(await whoIs(keys.management_token!)),
    ]
    expect(asks).toMatchObject({ name: 'svc on ada-laptop', scopes: ['ask'], owner_user_id: grace.user })
    expect(asks.owner_confirmed_at).not.toBeNull()
    expect(manages.scopes).toEqual(everything.split(' ').slice(1))
    expect(keys.management_scope).toBe(everything.slice(4))
  })

  test('of a member only asks, whatever it wants', async () => {
    const keys = await signIn(ada)
    expect(keys.management_token).toBeUndefined()
    expect(dataOf(await whoIs(keys.access_token)).scopes).toEqual(['ask'])
  })

  test('keeps its keys when the person signs in again; the former secrets end', async () => {
    const first = await signIn(grace)
    const before = [
      dataOf(await whoIs(first.access_token)).id,
      dataOf(await whoIs(first.management_token!)).id,
    ]
    const second = await signIn(grace)
    const after = [
      dataOf(await whoIs(second.access_token)).id,
      dataOf(await whoIs(second.management_token!)).id,
    ]
    expect(after).toEqual(before)
    for (const old of [first.access_token, first.management_token!])
      expect((await whoIs(old)).status).toBe(401)
  })

  test('that asks for less loses the key that manages', async () => {
    const { management_token } = await signIn(grace)
    await signIn(grace, { scope: 'ask' })
    expect((await whoIs(management_token!)).status).toBe(401)
  })

  test('is apart from another one of the same person, and from the same one of another person', async () => {
    const [own, other] = [await signIn(grace), await signIn(grace, { id: installation('b') })]
    const ofAda = await signIn(ada)
    for (const key of [own, other, ofAda]) expect((await whoIs(key.access_token)).status).toBe(200)
  })

  test('pauses at its expiry: what it asked for stays, and is used after the renewal', async () => {
    const { access_token } = await signIn(grace)
    clock.tick(28_800_000 - 60_000)
    const { request_id } = dataOf(await ask(access_token, ada, { lifetime_s: 600 }))
    clock.tick(60_000)
    expect(refusal(await whoIs(access_token))[1]).toBe('signed_out')
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve' }))
    const renewed = await signIn(grace)
    expect(await statusOf(renewed.access_token, request_id)).toBe('approved')
    const { digest } = dataOf(await show(service, request_id, renewed.access_token)).subject
    const use = { key: renewed.access_token, body: { digest } }
    expect((await service.call('POST', `/svc/v1/approvals/${request_id}/consume`, use)).status).toBe(200)
  })

  test.each(['signed out', 'the device removed', 'the person on hold', 'no administrator any more'])(
    'ends: %s',
    async (how) => {
      const { access_token, management_token } = await signIn(grace)
      const { request_id } = dataOf(await ask(access_token))
      const response = await signed(service, request_id, 'approve', ada.key)
      if (how === 'signed out') await sendForm(service, '/revoke', { token: access_token, client_id: 'svc' })
      else if (how === 'the device removed')
        await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${grace.device}`, {
          key: acme.key,
        })
      else if (how === 'the person on hold')
        await service.call('POST', `/organization/${acme.id}/user/${grace.user}/pending`, { key: acme.key })
      else
        dataOf(
          await service.call('PUT', `/organization/${acme.id}/update/user/${grace.user}`, {
            key: acme.key,
            body: { role: 'member' },
          }),
        )
      expect((await whoIs(management_token!)).status).toBe(401)
      const asks = how === 'no administrator any more'
      expect((await whoIs(access_token)).status).toBe(asks ? 200 : 401)
      const decided = await post(service, request_id, { decision: 'approve', response })
      expect(decided.status).toBe(asks ? 200 : 410)
      expect(await statusOf(acme.key, request_id)).toBe(asks ? 'approved' : 'expired')
    },
  )
})

test('the key of a terminal is renewed by its person alone, not by a rotation', async () => {
  const { management_token } = await signIn(grace)
  const { id } = dataOf(await whoIs(management_token!))
  for (const key of [management_token!, undefined])
    expect(
      refusal(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { ...(key && { key }), body: {} })),
    ).toEqual([409, 'key_of_agent', []])
})

describe('a code', () => {
  test('that comes twice costs both keys', async () => {
    const { code, code_verifier } = await codeFrom(grace)
    const keys = JSON.parse((await tokenFor(code, code_verifier)).text)
    expect((await tokenFor(code, code_verifier)).status).toBe(400)
    for (const key of [keys.access_token, keys.management_token]) expect((await whoIs(key)).status).toBe(401)
  })

  test('of racing renewals leaves exactly one key of each kind', async () => {
    const codes = await Promise.all([1, 2, 3, 4].map(() => codeFrom(grace)))
    const all = await Promise.all(codes.map(({ code, code_verifier }) => tokenFor(code, code_verifier)))
    const keys = all.map(({ text }) => JSON.parse(text))
    const live = async (name: string) => {
      const states = await Promise.all(keys.map(async (one) => (await whoIs(one[name])).status))
      return states.filter((status) => status === 200).length
    }
    expect([await live('access_token'), await live('management_token')]).toEqual([1, 1])
  })

  test('gives what the person could give when they consented, not what they became since', async () => {
    const { code, code_verifier } = await codeFrom(ada)
    dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: ada.user } }))
    expect(JSON.parse((await tokenFor(code, code_verifier)).text).management_token).toBeUndefined()
  })

  test('is bound to the terminal that asked', async () => {
    const [{ code }, { code_verifier }] = [await codeFrom(grace), await codeFrom(grace)]
    expect((await tokenFor(code, code_verifier)).status).toBe(400)
  })
})

test('what a person asks whom a key enrolled is held by the rules for that key', async () => {
  const body = { name: 'maker', org_id: acme.id, scopes: ['people', 'devices', 'read'] }
  const maker = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
  const eve = await createMember(service, acme.id, 9)
  const link = await service.call('POST', at(acme.id, `users/${eve.id}/enrollments`), {
    key: maker.key,
    body: {},
  })
  const phone = await registerPhone(service, dataOf(link).token, eve)
  const { access_token } = await signIn(phone)
  const match = { type: 'text', text: ['Deploy *'], key: [maker.id] }
  await createRule(service, acme.id, { members: [grace.user], match })
  const { lines } = dataOf(await ask(access_token, ada, { action: 'Deploy 4.2' }))
  expect(lines).toHaveLength(2)
  const { access_token: other } = await signIn(ada, { id: installation('b') })
  expect(dataOf(await ask(other, grace, { action: 'Deploy 4.2' })).lines).toHaveLength(1)
})

test('a member who may not do something is told what they can do', async () => {
  const { access_token } = await signIn(ada)
  const body = { type: 'text', text: 'Deploy' }
  const answer = await service.call('POST', at(acme.id, 'rule-tests'), { key: access_token, body })
  expect(refusal(answer)).toEqual([403, 'scope_missing', []])
  expect(answer.body.data.hint).toBe(
    'This key has the scopes: ask. Ask an administrator to do it. Whoever is one signs in: svc profile login',
  )
})

test('a rule cannot be for the key of a terminal, which its person can replace', async () => {
  const { access_token } = await signIn(ada)
  const { id } = dataOf(await whoIs(access_token))
  const { group } = await createRule(service, acme.id, { members: [grace.user], match: { type: 'file' } })
  const rule = { name: 'ada', match: { type: 'text', key: [id] }, who: [`@${group}`] }
  const answer = await service.call('POST', at(acme.id, 'rules'), { body: rule })
  expect(refusal(answer)).toEqual([422, 'invalid_field', ['match.key[0]']])
  expect(answer.body.message).toContain(`must not be ${id} (svc on ada-laptop)`)
  expect((await service.call('POST', at(acme.id, 'rule-changes'), { body: { rules: [rule] } })).status).toBe(
    422,
  )
})
