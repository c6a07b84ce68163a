import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { createApprover, decide, type Approver } from '../service/approver.ts'
import { config, folder, installHooks, key, newPerson, service, toolsUrl } from './mcp-behaviour.ts'
import { call, eras, overStdio, type Era } from './mcp-client.ts'
import { remote, type Person } from './person.ts'
import { svc } from './processes.ts'

// An agent that starts `svc mcp` as its child asks several people with the same three tools.

installHooks()

const api = () => remote(service.baseUrl, key)

/** Two people of one organization, and the environment of an agent whose key can only ask. */
type Pair = { ada: Person; grace: Approver; approvers: string[]; env: Record<string, string> }

let others = 0
const newPair = async (): Promise<Pair> => {
  const ada = await newPerson()
  const grace = await createApprover(api(), ada.org.id, 50 + (others += 1))
  const body = { name: 'agent', org_id: ada.org.id, scopes: ['ask'] }
  const created = await api().call('POST', '/svc/v1/keys', { body })
  const env = { ...config, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: created.body.data.key }
  return { ada, grace, approvers: [ada.mobile, grace.mobile], env }
}

const open = async (mode: Era, more: Record<string, string>) => {
  const client = await overStdio(mode, more)
  onTestFinished(() => client.close())
  return client
}

const trust = async ({ ada }: Pair) => {
  const keys: unknown = await (await fetch(new URL('/.well-known/jwks.json', service.baseUrl))).json()
  const { issuer } = keys as { issuer?: string }
  return { keys, expected: { issuer, organization: ada.org.slug, allowDev: true } }
}

describe('svc mcp with several people', () => {
  test.each(eras)('waits for the second yes, and returns one proof (%s)', async (_, mode) => {
    const pair = await newPair()
    const { ada, grace, approvers } = pair
    const client = await open(mode, pair.env)
    const messages: string[] = []
    const calling = client.callTool(
      { name: 'request_approval', arguments: { action: 'Deploy 4.2', approvers, timeout_s: 60 } },
      { onprogress: ({ message }) => void messages.push(message!) },
    )
    await expect.poll(() => messages).toHaveLength(1)
    const id = await ada.answer()
    const { result: pending } = await call(client, 'check_status', { request_id: id })
    expect(pending).toMatchObject({
      status: 'pending',
      detail: expect.stringMatching(/ 1 of 2 approved; waiting for [^.]+\./),
    })
    expect(pending.attestation).toBeUndefined()
    expect((await decide(api(), id, grace.key)).status).toBe(200)

    const { structuredContent } = await calling
    expect(structuredContent).toMatchObject({
      status: 'approved',
      request_id: id,
      attestation: { format: 'set', receipts: [{ format: 'jws' }, { format: 'jws' }] },
    })
    const { attestation } = structuredContent as { attestation: { receipts: object[] } }
    const { keys, expected } = await trust(pair)
    const now = new Date()
    const lines = approvers.map((mobile) => ({ people: [mobile], need: 1 }))
    const verdict = await verifyReceipt(attestation, keys, { ...expected, requestId: id, lines }, now)
    expect(verdict.checks.filter(({ ok }) => !ok)).toEqual([])
    for (const receipt of attestation.receipts)
      expect(await verifyReceipt(receipt, keys, expected, now)).toMatchObject({ valid: false })

    const file = join(folder.path, `${id}.json`)
    writeFileSync(file, JSON.stringify(attestation))
    const flags = ['--org', ada.org.slug, '--need', '2', '--allow-dev']
    expect(await svc(['approve', 'verify', file, ...flags], pair.env)).toMatchObject({ exit: 0 })
  })

  test('returns the denial of the second person, and not the yes of the first', async () => {
    const { ada, grace, approvers, env } = await newPair()
    const client = await open('legacy', env)
    const { result } = await call(client, 'request_approval_async', { action: 'Deploy', approvers })
    const request_id = String(result.request_id)
    await ada.answer()
    expect((await decide(api(), request_id, grace.key, { decision: 'deny' })).status).toBe(200)
    const { result: denied } = await call(client, 'check_status', { request_id })
    expect(denied).toMatchObject({
      status: 'denied',
      detail: expect.stringContaining('denied this'),
      attestation: { format: 'jws' },
    })
    const { jws } = denied.attestation as { jws: string }
    const claims: unknown = JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString())
    expect(claims).toMatchObject({ status: 'denied', sub: grace.mobile })
  })

  test('asks one of several, or people by default', async () => {
    const { ada, grace, approvers, env } = await newPair()
    const byDefault = await open('legacy', { ...env, SVC_DEFAULT_MOBILE: approvers.join(' ') })
    const { result: both } = await call(byDefault, 'request_approval_async', { action: 'Deploy' })
    expect(both).toMatchObject({ detail: expect.stringContaining('0 of 2 approved') })
    await ada.answer({ decision: 'deny' })
    const one = { action: 'Deploy', approvers: [approvers.join(',')] }
    const { result } = await call(byDefault, 'request_approval_async', one)
    const request_id = String(result.request_id)
    expect((await decide(api(), request_id, grace.key)).status).toBe(200)
    expect((await call(byDefault, 'check_status', { request_id })).result).toMatchObject({
      status: 'approved',
      attestation: { format: 'set', receipts: [{}] },
    })
  })

  test('says that the tools of another server can ask one person only', async () => {
    const { ada, approvers } = await newPair()
    const client = await open('legacy', { ...config, SVC_MCP_URL: toolsUrl() })
    const reply = await call(client, 'request_approval_async', { action: 'Deploy', approvers })
    expect([reply.isError, reply.text]).toEqual([
      true,
      expect.stringMatching(/^A tool server can ask one person only.*This is not an approval\.$/),
    ])
    expect(await ada.requests('pending')).toEqual([])
  })
})
