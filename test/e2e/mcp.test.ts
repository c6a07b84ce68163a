import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, eras, overHttp, overStdio, type Era } from './mcp-client.ts'
import { createPerson, remote, type Person } from './person.ts'
import { startService, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const token = 'the-bearer-of-the-tool-server-0123456789'
const folder = temporaryFolder()
const config = { SVC_CONFIG_DIR: join(folder.path, 'config') }
let service: Service
let guarded: Service
let people = 0
let env: Record<string, string>
let mcpUrl: string

beforeAll(async () => {
  service = await startService(join(folder.path, 'data'), key, ['--dev'])
  guarded = await startService(join(folder.path, 'guarded'), key, ['--dev'], { MCP_AUTH_TOKEN: token })
  mcpUrl = new URL('/mcp', service.baseUrl).href
  env = { ...config, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
}, 30_000)
afterAll(async () => {
  await Promise.all([service.stop(), guarded.stop()])
  folder.remove()
}, 30_000)

/** Somebody new: a phone may ring five times in ten minutes and no more. */
const person = (): Promise<Person> => createPerson(remote(service.baseUrl, key), (people += 1))

/** Everything that a way to the tools must do. */
const behaves = (connect: (mode: Era) => Promise<Client>): void => {
  test.each(eras)('gets an approval that a person gave, with its receipt (%s)', async (_, mode) => {
    const ada = await person()
    const client = await connect(mode)
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual([
      'request_approval',
      'request_approval_async',
      'check_status',
    ])
    const [{ said, text }] = await Promise.all([
      call(client, 'request_approval', { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 30 }),
      ada.answer(),
    ])
    expect(said).toMatchObject({ status: 'approved', attestation: { format: 'jws' } })
    const { jws } = said.attestation as { jws: string }
    expect(JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString())).toMatchObject({
      action: 'Deploy 4.2',
    })
    const { attestation: _receipt, ...short } = said
    expect(JSON.parse(text)).toEqual(short)
    expect(text.length).toBeLessThan(240)
    await client.close()
  })

  test.each(eras)('hears a no, later too (%s)', async (_, mode) => {
    const ada = await person()
    const client = await connect(mode)
    const { said } = await call(client, 'request_approval_async', {
      action: 'Drop the table',
      approver_mobile: ada.mobile,
    })
    expect(said).toMatchObject({ status: 'pending', approver_mobile: ada.mobile })
    const status = () => call(client, 'check_status', { request_id: said.request_id })
    expect((await status()).said).toMatchObject({ status: 'pending' })
    await ada.answer({ decision: 'deny' })
    expect((await status()).said).toMatchObject({ status: 'denied', request_id: said.request_id })
    await client.close()
  })

  test.each(eras)('withdraws the prompt of a call that is given up (%s)', async (_, mode) => {
    const ada = await person()
    const client = await connect(mode)
    const gone = new AbortController()
    const args = { action: 'Wipe the disk', approver_mobile: ada.mobile, timeout_s: 60 }
    const calling = client.callTool({ name: 'request_approval', arguments: args }, { signal: gone.signal })
    calling.catch(() => undefined)
    await ada.rung()
    gone.abort()
    await expect(calling).rejects.toThrow(/abort/i)
    await expect.poll(() => ada.requests('pending')).toEqual([])
    await client.close()
  })

  test.each(eras)('is over when its time is over (%s)', async (_, mode) => {
    const ada = await person()
    const client = await connect(mode)
    const { said } = await call(client, 'request_approval', {
      action: 'Nobody answers',
      approver_mobile: ada.mobile,
      timeout_s: 1,
    })
    expect(said.status).toBe('expired')
    expect(await ada.requests('pending')).toEqual([])
    await client.close()
  })

  test.each(eras)('tells of the wait while it lasts (%s)', async (_, mode) => {
    const ada = await person()
    const client = await connect(mode)
    const told: string[] = []
    const args = { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 30 }
    const onprogress = ({ message }: { message?: string }): void => void told.push(message!)
    const calling = client.callTool({ name: 'request_approval', arguments: args }, { onprogress })
    await expect.poll(() => told).toHaveLength(1)
    expect(told[0]).toMatch(/^Waiting for \+\d+ to decide, 30 s left\. Request \w+_[\w-]+\.$/)
    await ada.answer()
    expect((await calling).structuredContent).toMatchObject({ status: 'approved' })
    await client.close()
  })

  test('passes on a number that must be typed, before the time is over', async () => {
    const ada = await person()
    await ada.requireNumber()
    const client = await connect('legacy')
    const ask = { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 60 }
    const { said, text } = await call(client, 'request_approval', ask)
    expect(said).toMatchObject({ status: 'pending', number: expect.stringMatching(/^\d\d$/) })
    expect(text).toContain(`the number to type on the phone is ${said.number}`)
    const status = () => call(client, 'check_status', { request_id: said.request_id })
    expect((await status()).said).toMatchObject({ status: 'pending', number: said.number })
    await ada.answer({ decision: 'approve', number: String(said.number) })
    expect((await status()).said).toMatchObject({ status: 'approved', attestation: { format: 'jws' } })
    await client.close()
  })

  test('tells what is wrong, and does not know what it did not ask', async () => {
    const client = await connect('legacy')
    expect((await call(client, 'request_approval', { action: '' })).text).toMatch(/^action must not be empty/)
    const unknown = await call(client, 'check_status', { request_id: 'apr_none' })
    expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining('unknown request_id')])
    await expect(client.callTool({ name: 'approve_all' })).rejects.toMatchObject({ code: -32602 })
    await client.close()
  })
}

const send = (method: string, headers: Record<string, string>): Promise<[number, string | undefined]> =>
  new Promise((resolve, reject) => {
    request(mcpUrl, { method, headers }, (response) => {
      response.resume()
      resolve([response.statusCode!, response.headers.allow])
    })
      .on('error', reject)
      .end()
  })

describe('POST /mcp', () => {
  behaves((mode) => overHttp(mode, mcpUrl))

  test('keeps each to its own requests', async () => {
    const ada = await person()
    const bob = await person()
    const [mine, theirs] = [
      await overHttp('legacy', mcpUrl, ada.org.key),
      await overHttp('legacy', mcpUrl, bob.org.key),
    ]
    const ask = { action: 'Deploy', approver_mobile: ada.mobile }
    const { said } = await call(mine, 'request_approval_async', ask)
    for (const stranger of [theirs, await overHttp('legacy', mcpUrl)])
      expect((await call(stranger, 'check_status', { request_id: said.request_id })).text).toContain(
        'unknown request_id',
      )
    expect((await call(theirs, 'request_approval_async', ask)).isError).toBe(true)
    await ada.answer({ decision: 'deny' })
  })

  test('answers 405 with Allow to GET and DELETE, 403 to a foreign host or origin', async () => {
    expect(await send('GET', {})).toEqual([405, 'POST, OPTIONS'])
    expect(await send('DELETE', {})).toEqual([405, 'POST, OPTIONS'])
    expect(await send('POST', { host: 'evil.example' })).toEqual([403, undefined])
    expect(await send('POST', { origin: 'https://evil.example' })).toEqual([403, undefined])
  })

  test('answers 401 to whoever shows no bearer, whatever the method', async () => {
    const url = new URL('/mcp', guarded.baseUrl)
    for (const method of ['GET', 'DELETE', 'POST']) {
      const response = await fetch(url, { method })
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32001 } })
    }
    const known = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    expect([known.status, known.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test.each([
    ['POST', '/register', 403],
    ['POST', '/token', 400],
    ['GET', '/authorize', 400],
    ['GET', '/.well-known/oauth-protected-resource', 404],
    ['GET', '/.well-known/oauth-protected-resource/mcp', 404],
    ['GET', '/.well-known/oauth-authorization-server', 404],
    ['GET', '/.well-known/openid-configuration', 404],
  ])('answers %s %s with an OAuth error that names the bearer', async (method, path, status) => {
    const response = await fetch(new URL(path, guarded.baseUrl), { method })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({
      error: expect.stringMatching(/^(?:invalid_request|access_denied)$/),
      error_description: expect.stringContaining('Authorization: Bearer'),
    })
  })

  test('asks for MCP_AUTH_TOKEN where it is set', async () => {
    const url = new URL('/mcp', guarded.baseUrl).href
    await expect(overHttp('legacy', url)).rejects.toMatchObject({ data: { status: 401 } })
    const client = await overHttp('legacy', url, token)
    expect((await client.listTools()).tools).toHaveLength(3)
  })
})

test('a client that is killed takes its prompt with it', async () => {
  const ada = await person()
  const script = `fetch(process.argv[1], { method: 'POST', headers: { 'content-type': 'application/json', accept:
    'application/json, text/event-stream' }, body: process.argv[2] }).then((response) => response.text())`
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'request_approval', arguments: { action: 'Deploy', approver_mobile: ada.mobile } },
  })
  const child = spawn(process.execPath, ['-e', script, mcpUrl, body], { stdio: 'ignore' })
  await ada.rung()
  child.kill('SIGKILL')
  await expect.poll(() => ada.requests('pending'), { timeout: 10_000 }).toEqual([])
  expect(await ada.requests('expired')).toMatchObject([
    { detail: 'withdrawn because the client disconnected' },
  ])
})

test('a service that stops withdraws what its tools asked, and does not wait for the answer', async () => {
  const dataDir = join(folder.path, 'stopping')
  const before = await startService(dataDir, key, ['--dev'])
  const stopped = await createPerson(remote(before.baseUrl, key), 1)
  const client = await overHttp('legacy', new URL('/mcp', before.baseUrl).href)
  const args = { action: 'Deploy', approver_mobile: stopped.mobile, timeout_s: 60 }
  const calling = call(client, 'request_approval', args)
  const id = await stopped.rung()
  expect(await before.stop()).toBe(0)
  const detail = expect.stringContaining('Reason: withdrawn because the service stopped.')
  expect((await calling).said).toMatchObject({ status: 'expired', request_id: id, detail })
  await client.close()
})

describe('svc mcp over REST', () => {
  behaves((mode) => overStdio(mode, { ...env, SVC_REQUEST_FROM: 'CI of acme' }))

  test('asks the default approver, for the default factors, in the name that it was given', async () => {
    const ada = await person()
    const client = await overStdio('legacy', {
      ...env,
      SVC_DEFAULT_MOBILE: ada.mobile,
      SVC_DEFAULT_FACTORS: 'biometric',
      SVC_REQUEST_FROM: 'CI of acme',
    })
    const { said } = await call(client, 'request_approval_async', { action: 'Deploy' })
    expect(said.approver_mobile).toBe(ada.mobile)
    expect(await ada.requests('pending')).toMatchObject([
      { requester: 'CI of acme', factors: ['biometric'], request_id: said.request_id },
    ])
    await ada.answer({ decision: 'deny' })
    await client.close()
  })
})

describe('svc mcp with SVC_ORG', () => {
  test('asks in that organization only, named by id or slug', async () => {
    const [ada, bob] = [await person(), await person()]
    const ask = { action: 'Deploy', approver_mobile: ada.mobile }
    const elsewhere = await overStdio('legacy', { ...env, SVC_ORG: String(bob.org.id) })
    expect((await call(elsewhere, 'request_approval_async', ask)).isError).toBe(true)
    const there = await overStdio('legacy', { ...env, SVC_ORG: ada.org.slug })
    expect((await call(there, 'request_approval_async', ask)).said.status).toBe('pending')
    await Promise.all([elsewhere.close(), there.close()])
  })
})

describe('svc mcp over the tools of another server', () => {
  behaves((mode) => overStdio(mode, { ...config, SVC_MCP_URL: mcpUrl }))

  test('tells the approver the name of the client that started it', async () => {
    const ada = await person()
    const client = await overStdio('legacy', { ...config, SVC_MCP_URL: mcpUrl })
    await call(client, 'request_approval_async', { action: 'Deploy', approver_mobile: ada.mobile })
    expect(await ada.requests('pending')).toMatchObject([
      { requester: 'robot', verified_as: 'unauthenticated local program' },
    ])
    await ada.answer({ decision: 'deny' })
    await client.close()
  })

  test('shows the bearer, and says what is wrong without the right one', async () => {
    const url = new URL('/mcp', guarded.baseUrl).href
    const right = await overStdio('legacy', { ...config, SVC_MCP_URL: url, MCP_AUTH_TOKEN: token })
    expect((await call(right, 'check_status', { request_id: 'x' })).text).toContain('unknown request_id')
    const wrong = await overStdio('legacy', { ...config, SVC_MCP_URL: url, MCP_AUTH_TOKEN: 'not-it' })
    expect((await call(wrong, 'check_status', { request_id: 'x' })).text).toMatch(
      /does not accept this bearer/,
    )
    await Promise.all([right.close(), wrong.close()])
  })
})

describe('svc mcp with nothing configured', () => {
  test('is a demo that says so and never approves', async () => {
    const client = await overStdio('legacy', config)
    const ask = { action: 'Deploy', approver_mobile: '+12025550101' }
    const asked = await call(client, 'request_approval_async', ask)
    expect(asked.said).toMatchObject({ status: 'pending', notice: expect.stringMatching(/demo/) })
    const waited = await call(client, 'request_approval', { ...ask, action: 'Wait', timeout_s: 1 })
    expect(waited.said).toMatchObject({ status: 'expired', bound_to_action: false })
    await client.close()
  })
})
