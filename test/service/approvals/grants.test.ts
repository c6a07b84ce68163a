import { beforeEach, describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide, post, signed } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { command } from './command-subject.ts'

installHooks()

let grace: Approver
let asker: { id: string; key: string }
let rule: string
let group: string

const createKey = async (name: string) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask'] } }))

beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
  asker = await createKey('agent')
  ;({ rule, group } = await createRule(service, acme.id, {
    members: [ada.id, grace.id],
    match: { type: 'command', argv: ['kubectl', 'delete', 'pod', '*'] },
    grant: { max_s: 600, uses: 2 },
  }))
})

const ask = (more: object = {}, key = asker.key) =>
  service.call('POST', '/svc/v1/approvals', {
    key,
    body: { subject: command('kubectl', 'delete', 'pod', 'web-1'), ...more },
  })
const asked = async (more: object = {}, key?: string) => dataOf(await ask(more, key))
const pod = (name: string) => ({ subject: command('kubectl', 'delete', 'pod', name) })
const granted = async (more: object = {}) => {
  const { request_id } = await asked(more)
  return dataOf(await decide(service, request_id, ada.key, { decision: 'approve', grant: true }))
}
const consume = ({ request_id, subject }: { request_id: string; subject: { digest: string } }) =>
  service.call('POST', `/svc/v1/approvals/${request_id}/consume`, {
    key: asker.key,
    body: { digest: subject.digest },
  })
const grants = async (key?: string) => dataOf(await service.call('GET', at(acme.id, 'grants'), { key }))
const verdict = async (attestation: unknown, more: object = {}) => {
  const { body } = await service.call('GET', '/.well-known/jwks.json', { key: null })
  const expected = { organization: 'acme', allowDev: true, ...more }
  return verifyReceipt(attestation, body, expected, clock.now())
}

describe('a grant', () => {
  test('approves the same again at once, and notifies nobody', async () => {
    const first = await granted()
    const again = await asked(pod('web-2'))
    expect(again).toMatchObject({ status: 'approved', granted_by: first.request_id, grant_use: 1 })
    expect(again.detail).toBe(`approved with ${first.request_id}; use 1 of 2, which nobody saw`)
    expect(dataOf(await consume(again)).used_at).not.toBeNull()
    const list = await service.call('GET', `/svc/v1/approvals/${again.request_id}/ceremony`)
    expect(list.status).toBe(409)
  })

  test('can be used as often as was granted, and each use once', async () => {
    await granted()
    const uses = [await asked(), await asked(pod('web-2')), await asked(pod('web-3'))]
    expect(uses.map(({ status }) => status)).toEqual(['approved', 'approved', 'pending'])
    dataOf(await consume(uses[0]))
    expect(refusal(await consume(uses[0]))[1]).toBe('already_used')
  })

  test('ends with its time', async () => {
    await granted()
    clock.tick(600_001)
    expect((await asked()).status).toBe('pending')
  })

  test('is offered and signed only if the approver chooses it', async () => {
    const { request_id } = await asked()
    dataOf(await decide(service, request_id, ada.key))
    expect((await asked()).status).toBe('pending')
    const offered = await asked(pod('web-2'))
    const response = await signed(service, offered.request_id, 'approve', ada.key)
    expect(
      refusal(await post(service, offered.request_id, { decision: 'approve', grant: true, response })),
    ).toEqual([403, 'assertion_refused', []])
  })

  test('is only for the key that asked', async () => {
    await granted()
    const other = await createKey('other')
    expect((await asked({}, other.key)).status).toBe('pending')
  })

  test.each([
    ['another command', ['kubectl', 'delete', 'deploy', 'web']],
    ['an option', ['kubectl', 'delete', 'pod', '--all']],
    ['one word more', ['kubectl', 'delete', 'pod', 'web-1', 'web-2']],
    ['a path that leads up', ['kubectl', 'delete', 'pod', '../x']],
    ['words in one', ['kubectl', 'delete', 'pod', 'web-1 --all']],
    ['a line break', ['kubectl', 'delete', 'pod', 'web-1\n--all']],
    ['no word', ['kubectl', 'delete', 'pod', '']],
  ])('is not for %s', async (_, argv) => {
    await granted()
    expect((await asked({ subject: command(...argv), approvers: [`@${group}`] })).status).toBe('pending')
  })

  test('is not for another file, folder, or variable', async () => {
    await granted()
    const { type, data } = command('kubectl', 'delete', 'pod', 'web-1')
    const others = [
      { ...data, executable: { ...data.executable, sha256: 'cd'.repeat(32) } },
      { ...data, cwd: '/srv/other' },
      { ...data, environment: { passed: [], set: { KUBECONFIG: '/tmp/x' } } },
      { ...data, files: [{ path: '/tmp/x', sha256: 'ab'.repeat(32) }] },
    ]
    for (const changed of others) {
      const { status, request_id } = await asked({ subject: { type, data: changed } })
      expect(status).toBe('pending')
      dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/cancel`, { key: asker.key }))
    }
  })

  test('does not hold once another rule applies, or its rule has changed', async () => {
    await granted()
    const { rule: second } = await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: { type: 'command', cwd: ['/srv/**'] },
      grant: { max_s: 600, uses: 2 },
    })
    expect((await asked()).status).toBe('pending')
    dataOf(await service.call('DELETE', at(acme.id, `rules/${second}`)))
    expect((await asked()).status).toBe('approved')
    dataOf(await service.call('DELETE', at(acme.id, `rules/${rule}`)))
    const body = {
      name: rule,
      who: [`@${group}`],
      match: { type: 'command', argv: ['kubectl', '**'] },
      grant: { max_s: 600, uses: 2 },
    }
    dataOf(await service.call('POST', at(acme.id, 'rules'), { body }))
    expect((await asked()).status).toBe('pending')
  })

  test('ends with the device, and with the place in the group', async () => {
    await granted()
    dataOf(await service.call('DELETE', at(acme.id, `groups/${group}/members/${ada.id}`)))
    expect((await asked()).status).toBe('pending')
  })

  test('ends with a revoked device', async () => {
    await granted()
    dataOf(await service.call('DELETE', at(acme.id, `devices/${ada.device}`)))
    expect((await asked()).status).toBe('pending')
  })

  test('ends with a report', async () => {
    await granted()
    const other = await asked({ subject: command('kubectl', 'delete', 'pod', 'a b') })
    dataOf(await decide(service, other.request_id, ada.key, { decision: 'deny', not_me: true }))
    expect(await grants()).toEqual([])
  })

  test('is listed, and ended with the approvals that were not used yet', async () => {
    const first = await granted()
    const open = await asked(pod('web-2'))
    expect(await grants(asker.key)).toEqual([
      {
        request_id: first.request_id,
        org_id: acme.id,
        user_id: ada.id,
        key_id: asker.id,
        credential: 'agent',
        what: 'Run kubectl delete pod web-1',
        varying: ['web-1'],
        used: 1,
        uses: 2,
        ends_at: first.granted_until,
      },
    ])
    const other = await createKey('other')
    expect(await grants(other.key)).toEqual([])
    const path = at(acme.id, `grants/${first.request_id}`)
    expect((await service.call('DELETE', path, { key: other.key })).status).toBe(404)
    dataOf(await service.call('DELETE', path, { key: asker.key }))
    expect(await grants()).toEqual([])
    expect(refusal(await consume(open))[1]).toBe('not_approved')
    expect((await asked()).status).toBe('pending')
  })
})

const offered = async (id: string) =>
  dataOf(await service.call('GET', `/svc/v1/approvals/${id}/ceremony?credential=${ada.key.credential_id}`))
    .grant

describe('no grant is offered', () => {
  test('beside people whom the requester names, or with factors or a number', async () => {
    expect(await offered((await asked()).request_id)).toEqual({ free: ['3'], seconds: 600, uses: 2 })
    expect(await offered((await asked({ approvers: [ada.mobile] })).request_id)).toBeUndefined()
    expect(await offered((await asked({ number: true })).request_id)).toBeUndefined()
  })

  test.each([
    ['a shell', ['bash', '-c', 'x']],
    ['an interpreter', ['python3.12', 'x.py']],
    ['another command starter', ['env', 'kubectl']],
  ])('for %s', async (_, argv) => {
    await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: { type: 'command' },
      grant: { max_s: 600, uses: 2 },
    })
    expect(await offered((await asked({ subject: command(...argv) })).request_id)).toBeUndefined()
  })

  test('by a rule that cannot have one', async () => {
    const create = (more: object) =>
      service.call('POST', at(acme.id, 'rules'), {
        body: {
          name: 'odd',
          who: [`@${group}`],
          match: { type: 'command' },
          grant: { max_s: 600, uses: 2 },
          ...more,
        },
      })
    const wrong = [
      { match: { type: 'text' } },
      { who: [`@${group}:2`] },
      { number: true },
      { factors: ['location'] },
      { grant: { max_s: 600, uses: 101 } },
    ]
    for (const more of wrong) expect((await create(more)).status).toBe(422)
  })
})

describe('the receipt of a use', () => {
  test('names the use and what the person signed, and is accepted only if it is expected', async () => {
    const first = await granted()
    const { attestation, subject, request_id } = await asked(pod('web-2'))
    expect((await verdict(attestation)).checks.flatMap(({ name, ok }) => (ok ? [] : [name]))).toEqual([
      'granted',
    ])
    const expected = { allowGrant: true, digest: subject.digest, requestId: request_id }
    const found = await verdict(attestation, expected)
    expect(found).toMatchObject({
      valid: true,
      headline: 'Run kubectl delete pod web-2',
      use: { use: 1, grant: { request_id: first.request_id } },
    })
    expect(found.facts[0]).toBe(
      `Granted earlier: no person saw this request: it is use 1 of what was granted with ${first.request_id}`,
    )
  })
})
