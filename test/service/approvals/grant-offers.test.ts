import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { dataOf, fence } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { command } from './command-subject.ts'
import { asked, grace, granted, group, installHooks, pod } from './grant-stage.ts'

installHooks()

const verdict = async (attestation: unknown, more: object = {}) => {
  const { body } = await service.call('GET', '/.well-known/jwks.json', { key: null })
  const expected = { organization: 'acme', allowDev: true, ...more }
  return verifyReceipt(attestation, body, expected, clock.now())
}

const offered = async (id: string) =>
  dataOf(await service.call('GET', `/svc/v1/approvals/${id}/ceremony?credential=${ada.key.credential_id}`))
    .grant

const call = (values: object) => ({
  type: 'tool_call',
  data: { server: 'claude', tool: 'Bash', arguments: values },
})

const free = async (values: object) =>
  (await offered((await asked({ subject: call(values) })).request_id)).free

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

  test('for a command with a variable of which only the name is bound', async () => {
    const subject = command('kubectl', 'delete', 'pod', 'web-1')
    const passing = (passed: string[]) => ({
      ...subject,
      data: { ...subject.data, environment: { passed, set: {} } },
    })
    expect(await offered((await asked({ subject: passing(['HOME', 'PATH']) })).request_id)).toBeDefined()
    expect(
      await offered((await asked({ subject: passing(['KUBECONFIG', 'PATH']) })).request_id),
    ).toBeUndefined()
  })

  test('for an argument of a call that runs something', async () => {
    await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: { type: 'tool_call', arguments: { command: ['*'], path: ['*'] } },
      grant: { uses: 5 },
    })
    expect(await free({ command: 'ls', path: '/srv' })).toEqual([])
    expect(await free({ path: '/srv' })).toEqual(['path'])
  })

  test('where a geofence applies; a test of the rules says so', async () => {
    const input = { type: 'command', argv: ['kubectl', 'delete', 'pod', 'web-1'] }
    const ways = async (): Promise<string> =>
      dataOf(await service.call('POST', at(acme.id, 'rule-tests'), { body: input })).ways_around.join(' ')
    expect(await ways()).toContain('can allow the same again, unseen')
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    expect(await offered((await asked()).request_id)).toBeUndefined()
    expect(await ways()).not.toContain('can allow the same again, unseen')
    expect(await ways()).toContain('is not offered: a geofence, a time slot or an allowed network applies')
  })

  test('by a rule that cannot have one', async () => {
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
