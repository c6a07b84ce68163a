import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createClient, watchApproval, type Client } from '../../src/library/svc.ts'
import { failure } from '../client/hosted.ts'
import { createPerson, remote, type Person } from '../e2e/person.ts'
import { startService, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const operator = 'svc_op_library0_0123456789012345678901234567890'
const folder = temporaryFolder()
const expected = { allowDev: true }
let service: Service
let person: Person
let admin: Client
let client: Client

beforeAll(async () => {
  service = await startService(folder.path, operator, ['--dev'])
  admin = createClient({ baseUrl: service.baseUrl, apiKey: operator })
  person = await createPerson(remote(service.baseUrl, operator), 1)
  const { key } = await admin.createKey({ name: 'deploys', scopes: ['ask'], org_id: person.org.id })
  client = createClient({ baseUrl: service.baseUrl, apiKey: String(key) })
})
afterAll(async () => {
  await Promise.all([admin.close(), client.close()])
  await service.stop()
  folder.remove()
})

const ask = (action: string) => client.createApproval({ action, approvers: [person.mobile] })

describe('watchApproval', () => {
  test('returns a verified approval, which can be used once', async () => {
    const action = 'Deploy 4.2'
    const { request_id } = await ask(action)
    const watching = watchApproval(client, request_id, { wanted: { action }, expected })
    await person.answer()
    const outcome = await watching
    if (outcome.status !== 'approved') throw new Error(outcome.status)
    expect(outcome.receipt).toMatchObject({ valid: true, headline: action })
    const { used_at } = await client.consumeApproval({ request_id, digest: outcome.digest })
    expect(used_at).not.toBeNull()
  })

  test('binds the approval to the data of a subject', async () => {
    const subject = {
      type: 'tool_call',
      data: { server: 'files', tool: 'delete', arguments: { path: '/a' } },
    }
    const { request_id } = await client.createApproval({
      subject: subject as never,
      approvers: [person.mobile],
    })
    await person.answer()
    expect(await watchApproval(client, request_id, { wanted: { subject }, expected })).toMatchObject({
      status: 'approved',
    })
    const other = { ...subject, data: { ...subject.data, arguments: { path: '/b' } } }
    const error = await failure(watchApproval(client, request_id, { wanted: { subject: other }, expected }))
    expect(error).toMatchObject({ code: 'receipt_not_valid' })
    expect(error.detail).toContain('expected subject')
  })

  test('throws when the people whom the program asked are not those who agreed', async () => {
    const { request_id } = await ask('Deploy 4.6')
    await person.answer()
    const options = { wanted: { action: 'Deploy 4.6' }, expected }
    const error = await failure(
      watchApproval(client, request_id, { ...options, approvers: [person.mobile, '+12025550199'] }),
    )
    expect(error).toMatchObject({ code: 'receipt_not_valid' })
    expect(error.detail).toContain('expected lines')
    const approvers = [`${person.mobile},+12025550199`]
    expect((await watchApproval(client, request_id, { ...options, approvers })).status).toBe('approved')
  })

  test('throws when an approval was signed with a software key, unless that is expected', async () => {
    const { request_id } = await ask('Deploy 4.3')
    await person.answer()
    const error = await failure(watchApproval(client, request_id, { wanted: { action: 'Deploy 4.3' } }))
    expect(error).toMatchObject({ code: 'receipt_not_valid', exit: 'failed' })
    expect(error.detail).toContain('development')
  })

  test('returns a denial with what the person signed', async () => {
    const { request_id } = await ask('Deploy 4.4')
    await person.answer({ decision: 'deny' })
    const outcome = await watchApproval(client, request_id, { wanted: { action: 'Deploy 4.4' }, expected })
    expect(outcome).toMatchObject({ status: 'denied', receipt: { valid: true } })
  })

  test('returns expired for a request that was withdrawn', async () => {
    const { request_id } = await ask('Deploy 4.5')
    const watching = watchApproval(client, request_id, { wanted: { action: 'Deploy 4.5' }, expected })
    await client.withdrawApproval({ request_id })
    expect(await watching).toMatchObject({ status: 'expired' })
  })
})

/** A service that answers everything with this request. */
const answering = async (request: Record<string, unknown>): Promise<Client> => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ status: 'success', message: 'Approval', data: request }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const lying = createClient({ baseUrl: `http://127.0.0.1:${port}/admin/public/api`, apiKey: 'k' })
  onTestFinished(async () => {
    await lying.close()
    server.close()
  })
  return lying
}

test.each([
  ['no receipt', null],
  ['a receipt that nobody signed', { format: 'jws', jws: 'e30.e30.AA', kid: 'k', claims: {} }],
])('an approval with %s is not a yes', async (_, attestation) => {
  const lying = await answering({ request_id: 'apr_1', org_id: 1, status: 'approved', attestation })
  const error = await failure(watchApproval(lying, 'apr_1', { wanted: { action: 'Deploy' }, expected }))
  expect(error.code).toBe('receipt_not_valid')
})

test('an unknown state is not a yes', async () => {
  const lying = await answering({ request_id: 'apr_1', org_id: 1, status: 'APPROVED' })
  const error = await failure(watchApproval(lying, 'apr_1', { wanted: { action: 'Deploy' }, expected }))
  expect(error.code).toBe('pending')
})

test('ends with its signal, and leaves the request open', async () => {
  const { request_id } = await ask('Deploy 4.6')
  const over = new AbortController()
  const watching = failure(
    watchApproval(client, request_id, { wanted: { action: 'Deploy 4.6' }, signal: over.signal }),
  )
  over.abort()
  const { code, hint } = await watching
  expect([code, hint]).toEqual([
    'interrupted',
    `The request remains open: withdrawApproval withdraws ${request_id}`,
  ])
  const nobody = await failure(client.createApproval({ action: 'Deploy' }))
  expect(nobody.hint).toBe('Name a person or a group in approvers')
  expect((await client.getApproval({ request_id })).status).toBe('pending')
})

test.each([
  undefined,
  {},
  { wanted: {} },
  { wanted: 'Deploy 4.2' },
  { wanted: { digest: undefined } },
  { wanted: { digest: 'A'.repeat(64) } },
  { wanted: { action: undefined } },
  { wanted: { subject: {} } },
])('requires wanted, not %j', async (options) => {
  const error = await failure(watchApproval(client, 'apr_1', options as never))
  expect(error.code).toBe('usage')
  expect(error.message).toBe('watchApproval requires wanted: the action, the subject or its digest')
})
