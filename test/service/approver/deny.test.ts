import { beforeEach, describe, expect, test } from 'vitest'
import { assert } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { createEngineGateway } from '../../../src/service/approvals/engine-gateway.ts'
import { bearerCaller } from '../../../src/service/mcp/bearer.ts'
import { ask, post, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { subscribeBrowser } from './push-service.ts'
import { answerTo, createPhone, fromPhone, site, type Phone } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

const request = async (more: object = {}, key = acme.key, phone = ada): Promise<string> =>
  dataOf(await ask(service, phone, more, key)).request_id
const pending = async (phone = ada): Promise<{ request_id: string; contexts: { deny: string } }[]> =>
  dataOf(await fromPhone(service, 'GET', 'requests', { cookie: phone.cookie })).requests
const statusOf = async (id: string) => dataOf(await show(service, id))
const outcomeOf = async (id: string) =>
  dataOf(await fromPhone(service, 'GET', `requests/${id}`, { cookie: ada.cookie }))
const deny = async (id: string, more: object = {}, userVerified = true) => {
  const { contexts } = (await pending()).find(({ request_id }) => request_id === id)!
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.deny, 'base64url')))
  const response = assert(ada.key, { challenge, ...site }, userVerified)
  return post(service, id, { decision: 'deny', response, ...more })
}
const report = async (id: string) => dataOf(await deny(id, { not_me: true }))
const createKey = async (name: string): Promise<string> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask'] } })).key

const subscribe = ({ cookie }: Phone) =>
  fromPhone(service, 'POST', 'push', {
    cookie,
    body: subscribeBrowser('https://push.example/1').subscription,
  })

describe('"this wasn’t me"', () => {
  test('ends the other pending requests of the same key to this person, and no others', async () => {
    const bob = await createPhone(service, acme.id, 2)
    const [first, second] = [await request(), await request()]
    const ofOther = await request({}, await createKey('ci'))
    const toOther = await request({}, acme.key, bob)
    await report(first)
    expect((await pending()).map(({ request_id }) => request_id)).toEqual([ofOther])
    expect((await pending(bob)).map(({ request_id }) => request_id)).toEqual([toOther])
    expect(await statusOf(second)).toMatchObject({
      status: 'expired',
      detail: 'the approver reported another request of this requester as unexpected',
      decided_at: null,
      attestation: null,
    })
    expect(await outcomeOf(second)).toMatchObject({ status: 'expired', ended_by: 'report', device: null })
    expect(await outcomeOf(first)).toMatchObject({ status: 'denied', ended_by: 'person' })
  })

  test('leaves the requests of another key when the denial is an ordinary one', async () => {
    const [first, second] = [await request(), await request()]
    dataOf(await deny(first))
    expect(await statusOf(second)).toMatchObject({ status: 'pending' })
  })

  test('is audited for each request that it ends', async () => {
    const [first, second] = [await request(), await request()]
    await report(first)
    const rows = (await auditOf(service, acme.id)).filter(([action]) => action === 'decideApproval')
    expect(rows).toEqual([
      ['decideApproval', `approval:${first}`, ['status', 'denied', 'not_me']],
      ['decideApproval', `approval:${second}`, ['status', 'withdrawn', 'not_me']],
    ])
  })

  test('tells the administrators who have a channel, without words of the requester', async () => {
    const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
    dataOf(await subscribe(admin))
    const globex = await createTenant(service, 'globex')
    await createPhone(service, globex.id, 3, { role: 'admin' })
    const [first] = [await request({ requester: 'Evil <b>' }), await request()]
    await report(first)
    const messages = await service.messages()
    const reports = messages.filter(({ kind }) => kind === 'report')
    expect(reports.map(({ channel, to }) => [channel, to])).toEqual([
      ['push', admin.device],
      ['email', 'user2@acme.example'],
    ])
    expect(JSON.parse(reports[0]!.text)).toEqual({ notice: 'report', organization: 'acme' })
    expect(reports[1]!.subject).toBe('acme: An approval request was reported')
    expect(reports[1]!.text).toContain(`User ${ada.user} denied request ${first} and reported it`)
    expect(reports[1]!.text).toContain('1 other pending request of the requester ended')
    expect(reports[1]!.text).not.toContain('Evil')
  })
})

const mutes = async (phone = ada) =>
  dataOf(await fromPhone(service, 'GET', 'mutes', { cookie: phone.cookie })).mutes

const all = ({ cookie }: Phone) => fromPhone(service, 'GET', 'organization/mutes', { cookie })

const unmute = async (mute_id: string, { by = ada, signer = ada, of = mute_id } = {}) => {
  const { cookie } = by
  const path = `mutes/${of}`
  const { challenge } = dataOf(await fromPhone(service, 'POST', `${path}/challenge`, { cookie }))
  const body = { challenge, response: answerTo(challenge, signer.key) }
  return fromPhone(service, 'POST', `mutes/${mute_id}/end`, { cookie, body })
}

describe('a mute', () => {
  let first: string
  beforeEach(async () => {
    first = await request()
    await report(first)
  })

  test('is listed until it ends', async () => {
    expect(await mutes()).toEqual([
      {
        mute_id: expect.stringMatching(/^\d+$/),
        org_id: acme.id,
        user_id: ada.user,
        key_id: expect.any(String),
        credential: 'of acme',
        requester: null,
        until: new Date(clock.now().getTime() + 20 * minute).toISOString(),
      },
    ])
    clock.tick(20 * minute)
    expect(await mutes()).toEqual([])
  })

  test('is lifted by a signature; the requester can ask again and nothing revives', async () => {
    const [{ mute_id }] = await mutes()
    expect(refusal(await ask(service, ada, {}, acme.key))[1]).toBe('muted')
    dataOf(await unmute(mute_id))
    expect(await mutes()).toEqual([])
    expect(await statusOf(first)).toMatchObject({ status: 'denied' })
    expect(await pending()).toEqual([])
    await request()
    expect(refusal(await unmute(mute_id))).toEqual([404, 'not_found', []])
  })

  test('is seen and lifted by an administrator of the organization', async () => {
    const [{ mute_id }] = await mutes()
    const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
    expect(refusal(await all(ada))).toEqual([403, 'admin_only', []])
    const { mutes: found } = dataOf(await all(admin))
    expect(found).toMatchObject([{ mute_id, user_id: ada.user, member: { first_name: 'Ada' } }])
    const lift = async ({ cookie, key }: Phone) => {
      const begun = await fromPhone(service, 'POST', `mutes/${mute_id}/challenge`, {
        cookie,
        body: { user_id: ada.user },
      })
      const { challenge } = dataOf(begun)
      const body = { user_id: ada.user, challenge, response: answerTo(challenge, key) }
      return fromPhone(service, 'POST', `mutes/${mute_id}/end`, { cookie, body })
    }
    const bob = await createPhone(service, acme.id, 3)
    expect(refusal(await lift(bob))).toEqual([403, 'admin_only', []])
    const globex = await createTenant(service, 'globex')
    const eve = await createPhone(service, globex.id, 4, { role: 'admin' })
    expect(refusal(await lift(eve))).toEqual([404, 'not_found', []])
    expect(dataOf(await all(eve)).mutes).toEqual([])
    dataOf(await lift(admin))
    expect(await mutes()).toEqual([])
  })

  test('is lifted by nobody else, and not by a signature for another mute', async () => {
    const [{ mute_id }] = await mutes()
    const bob = await createPhone(service, acme.id, 2)
    expect(refusal(await unmute(mute_id, { by: bob, signer: bob }))).toEqual([404, 'not_found', []])
    expect(refusal(await unmute(mute_id, { signer: bob }))[0]).toBe(403)
    expect(refusal(await unmute(mute_id, { of: '99' }))[0]).toBe(410)
    expect(await mutes()).toHaveLength(1)
  })

  test('is lifted by an administrator’s key, but not by the muted key itself', async () => {
    const listed = dataOf(
      await service.call('GET', `/svc/v1/organizations/${acme.id}/mutes`, { key: acme.key }),
    )
    expect(listed).toMatchObject([{ user_id: ada.user, credential: 'of acme' }])
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.user}/mutes/${listed[0].mute_id}`
    expect(refusal(await service.call('DELETE', path, { key: acme.key }))).toEqual([403, 'own_mute', []])
    const body = { name: 'people', org_id: acme.id, scopes: ['people'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    dataOf(await service.call('DELETE', path, { key }))
    await request()
    expect(refusal(await service.call('DELETE', path, { key }))).toEqual([404, 'not_found', []])
  })
})

const denyAll = async (ids: string[], { by = ada, signed = ids }: { by?: Phone; signed?: string[] } = {}) => {
  const { cookie, key } = by
  const { challenge } = dataOf(
    await fromPhone(service, 'POST', 'denials/challenge', { cookie, body: { request_ids: signed } }),
  )
  const body = { request_ids: ids, challenge, response: answerTo(challenge, key) }
  return fromPhone(service, 'POST', 'denials', { cookie, body })
}

describe('denying several requests with one check', () => {
  test('denies exactly those that were signed, without receipts', async () => {
    const ids = [await request(), await request()]
    const other = await request()
    expect(dataOf(await denyAll(ids))).toEqual({ denied: ids })
    for (const id of ids) {
      expect(await statusOf(id)).toMatchObject({
        status: 'denied',
        detail: 'denied with one signature for several requests of this requester; there is no receipt',
        attestation: null,
      })
      expect(await outcomeOf(id)).toMatchObject({ ended_by: 'person', device: { id: ada.device } })
    }
    expect(await statusOf(other)).toMatchObject({ status: 'pending' })
    expect(await mutes()).toEqual([])
  })

  test('leaves what has ended as it is', async () => {
    const ids = [await request(), await request()]
    await service.call('POST', `/svc/v1/approvals/${ids[0]}/cancel`, { key: acme.key, body: {} })
    expect(dataOf(await denyAll(ids))).toEqual({ denied: [ids[1]] })
    expect(await statusOf(ids[0]!)).toMatchObject({ status: 'expired' })
  })

  test('answers the same once more, to a page that did not get the answer', async () => {
    const ids = [await request(), await request()]
    for (let n = 0; n < 2; n++) expect(dataOf(await denyAll(ids)).denied.toSorted()).toEqual(ids.toSorted())
    const rows = await auditOf(service, acme.id)
    expect(rows.filter(([, , changes]) => changes.includes('denied'))).toHaveLength(2)
  })

  test('does not reach requests to somebody else, or requests that were not signed', async () => {
    const id = await request()
    const bob = await createPhone(service, acme.id, 2)
    expect(dataOf(await denyAll([id], { by: bob }))).toEqual({ denied: [] })
    const later = await request()
    expect(refusal(await denyAll([id, later], { signed: [id] }))[0]).toBe(410)
    expect(await pending()).toHaveLength(2)
  })
})

const touchToDeny = (id: string, more: object = {}) => deny(id, more, false)
const setCheck = async (deny_check: string): Promise<void> =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: { deny_check } } }))

describe('a denial from a device that was only touched', () => {
  test.each([undefined, 'verification'])('is refused unless the policy allows it: %s', async (check) => {
    if (check !== undefined) await setCheck(check)
    const id = await request()
    expect(refusal(await touchToDeny(id))).toEqual([403, 'assertion_refused', []])
    expect(await statusOf(id)).toMatchObject({ status: 'pending' })
  })

  test('counts where the policy allows it, and its receipt says so', async () => {
    await setCheck('presence')
    const id = await request()
    expect(await pending()).toMatchObject([{ deny_check: 'presence' }])
    const { status, attestation, ruling } = dataOf(await touchToDeny(id))
    expect([status, attestation.claims.amr]).toEqual(['denied', ['hwk', 'user']])
    expect(ruling).toMatchObject([{ factor: 'biometric', result: 'FAIL' }])
  })

  test('is not enough for "this wasn’t me", for an approval, or for the session', async () => {
    await setCheck('presence')
    const id = await request()
    expect(refusal(await touchToDeny(id, { not_me: true }))[1]).toBe('assertion_refused')
    const [{ contexts }] = (await pending()) as never as [{ contexts: { approve: string } }]
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    const response = assert(ada.key, { challenge, ...site }, false)
    expect(refusal(await post(service, id, { decision: 'approve', response }))[1]).toBe('assertion_refused')
    const { cookie } = ada
    const unsigned = await service.call('POST', `/svc/v1/approvals/${id}/decide`, {
      key: null,
      body: { decision: 'deny' },
      headers: { cookie },
    })
    expect(unsigned.status).toBe(422)
    expect(await statusOf(id)).toMatchObject({ status: 'pending' })
  })
})

const askAs = async (requester: string): Promise<string> => {
  const gateway = createEngineGateway(service.service, bearerCaller)
  const asked = await gateway.request({ action: 'Deploy', approver_mobile: ada.mobile, requester })
  return asked.request_id
}

describe('agents that share the token of the tool server', () => {
  test('are reported by the name that they claim', async () => {
    const [first, same, other] = [await askAs('Coder'), await askAs('Coder'), await askAs('Reviewer')]
    await report(first)
    expect(await statusOf(same)).toMatchObject({ status: 'expired' })
    expect(await statusOf(other)).toMatchObject({ status: 'pending' })
    expect(await mutes()).toMatchObject([{ credential: 'tool server token', requester: 'Coder' }])
  })

  test('are all reported with the second name', async () => {
    const [first, second, third] = [await askAs('One'), await askAs('Two'), await askAs('Three')]
    await report(first)
    await report(second)
    expect(await statusOf(third)).toMatchObject({ status: 'expired', decided_at: null })
    const [{ mute_id }] = await mutes()
    dataOf(await unmute(mute_id))
    expect(await mutes()).toHaveLength(1)
  })
})
