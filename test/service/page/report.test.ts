import { describe, expect, test } from 'vitest'
import { createEngineGateway } from '../../../src/service/approvals/engine-gateway.ts'
import { bearerCaller } from '../../../src/service/mcp/bearer.ts'
import { command } from '../approvals/command-subject.ts'
import { decide } from '../approver.ts'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { deny, mutes, outcomeOf, pending, report, request, statusOf, unmute } from './denials.ts'
import { answerTo, createPhone, fromPhone, type Phone } from './phone.ts'
import { subscribeBrowser } from './push-service.ts'
import { acme, ada, installHooks, service } from './visit.ts'

installHooks()

const createKey = async (name: string): Promise<string> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask'] } })).key

const subscribe = ({ cookie }: Phone) =>
  fromPhone(service, 'POST', 'push', {
    cookie,
    body: subscribeBrowser('https://push.example/1').subscription,
  })

const later = async (id: string, by = ada): Promise<Answer> => {
  const { cookie } = by
  const { challenge } = dataOf(
    await fromPhone(service, 'POST', `requests/${id}/report/challenge`, { cookie }),
  )
  const body = { challenge, response: answerTo(challenge, by.key) }
  return fromPhone(service, 'POST', `requests/${id}/report`, { cookie, body })
}

/** Who reported the requester of each pending request, and whether it offers to allow it again. */
const marks = async (by = ada) =>
  (await pending(by)).map(({ reported, grant }) => [reported, grant !== undefined])

describe('"this wasn’t me", after an ordinary denial', () => {
  test('does the same, once, and is in the history and the audit', async () => {
    const [first, second] = [await request(), await request()]
    dataOf(await deny(first))
    const { mute_id } = dataOf(await later(first))
    expect(await mutes()).toMatchObject([{ mute_id }])
    expect(await statusOf(second)).toMatchObject({ status: 'expired' })
    expect(await outcomeOf(first)).toMatchObject({ status: 'denied', ended_by: 'person', reported: true })
    dataOf(await unmute(mute_id))
    // A repeat mutes nobody again.
    expect(dataOf(await later(first))).toEqual({ mute_id })
    expect(await mutes()).toEqual([])
    const rows = (await auditOf(service, acme.id)).filter(([action]) => action === 'reportRequest')
    expect(rows).toEqual([
      ['reportRequest', `approval:${first}`, ['not_me']],
      ['reportRequest', `approval:${second}`, ['status', 'withdrawn', 'not_me']],
      ['reportRequest', `approval:${first}`, ['repeated']],
    ])
  })

  test('tells all whom the requester still asks with a group, and offers none to allow it further', async () => {
    const key = await createKey('ci')
    const bob = await createPhone(service, acme.id, 2)
    const at = `/svc/v1/organizations/${acme.id}`
    const group = { name: 'sre', members: [ada.user, bob.user] }
    dataOf(await service.call('POST', `${at}/groups`, { body: group }))
    const rule = {
      name: 'web',
      match: { type: 'command', argv: ['systemctl', '**'] },
      who: ['@sre'],
      grant: {},
    }
    dataOf(await service.call('POST', `${at}/rules`, { body: rule }))
    const asked = async (unit: string): Promise<string> => {
      const body = { subject: command('systemctl', 'restart', unit), org_id: acme.id }
      return dataOf(await service.call('POST', '/svc/v1/approvals', { key, body })).request_id
    }
    const first = await asked('web-1')
    expect(await marks()).toEqual([[undefined, true]])
    await report(first)
    await asked('web-2')
    expect(await marks()).toEqual([[{ name: 'Ada Lovelace', own: true }, false]])
    expect(await marks(bob)).toEqual([[{ name: 'Ada Lovelace' }, false]])
  })

  test('is possible after two wrong numbers, which somebody else may have asked for', async () => {
    const id = await request({ number: true })
    const shown = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`)).number
    const wrong = { decision: 'approve', number: shown === '10' ? '11' : '10' } as const
    for (let n = 0; n < 2; n += 1) await decide(service, id, ada.key, wrong)
    expect(await outcomeOf(id)).toMatchObject({ status: 'denied', ended_by: 'number' })
    expect(dataOf(await later(id)).mute_id).toBeTruthy()
    expect(await outcomeOf(id)).toMatchObject({ ended_by: 'number', reported: true })
  })

  test('is refused for a request that is pending, and for that of somebody else', async () => {
    const pendingOne = await request()
    expect(refusal(await later(pendingOne))).toEqual([404, 'not_found', []])
    const bob = await createPhone(service, acme.id, 2)
    dataOf(await deny(pendingOne))
    expect(refusal(await later(pendingOne, bob))).toEqual([404, 'not_found', []])
    expect(await mutes()).toEqual([])
  })
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
    expect(await outcomeOf(first)).toMatchObject({ status: 'denied', ended_by: 'person', reported: true })
    expect(await outcomeOf(second)).not.toHaveProperty('reported')
  })

  test('leaves the requests of another key when the denial is an ordinary one', async () => {
    const [first, second] = [await request(), await request()]
    dataOf(await deny(first))
    expect(await statusOf(second)).toMatchObject({ status: 'pending' })
    expect(await outcomeOf(first)).not.toHaveProperty('reported')
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
    expect(reports[1]!.text).toMatch(
      new RegExp(`^\\S+ \\S+ \\(user ${ada.user}\\) denied a request .* the key ".+" \\(key \\d+\\)`),
    )
    expect(reports[1]!.text).toContain('1 other pending request of the requester ended')
    expect(reports[1]!.text).not.toContain('Evil')
  })
})

const askAs = async (requester: string): Promise<string> => {
  const gateway = createEngineGateway(service.service, bearerCaller)
  const asked = await gateway.request({ action: 'Deploy', approvers: [ada.mobile], requester })
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
