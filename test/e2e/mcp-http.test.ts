import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { behaves, newPerson, folder, guarded, installHooks, key, token, toolsUrl } from './mcp-behaviour.ts'
import { call, overHttp } from './mcp-client.ts'
import { createPerson, remote } from './person.ts'
import { startService } from './processes.ts'

installHooks()

const send = (method: string, headers: Record<string, string>): Promise<[number, string | undefined]> =>
  new Promise((resolve, reject) => {
    request(toolsUrl(), { method, headers }, (response) => {
      response.resume()
      resolve([response.statusCode!, response.headers.allow])
    })
      .on('error', reject)
      .end()
  })

describe('POST /mcp', () => {
  behaves((mode) => overHttp(mode, toolsUrl()))

  test('shows requests only to the organization that made them', async () => {
    const ada = await newPerson()
    const bob = await newPerson()
    const [mine, theirs] = [
      await overHttp('legacy', toolsUrl(), ada.org.key),
      await overHttp('legacy', toolsUrl(), bob.org.key),
    ]
    const ask = { action: 'Deploy', approver_mobile: ada.mobile }
    const { result } = await call(mine, 'request_approval_async', ask)
    for (const stranger of [theirs, await overHttp('legacy', toolsUrl())])
      expect((await call(stranger, 'check_status', { request_id: result.request_id })).text).toContain(
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

  test('answers 401 without a bearer, whatever the method', async () => {
    const url = new URL('/mcp', guarded.baseUrl)
    for (const method of ['GET', 'DELETE', 'POST']) {
      const response = await fetch(url, { method })
      const metadata = new URL('/.well-known/oauth-protected-resource/mcp', url)
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer resource_metadata="${metadata}", scope="ask"`,
      ])
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32001 } })
    }
    const known = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    expect([known.status, known.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('requires MCP_AUTH_TOKEN if it is set', async () => {
    const url = toolsUrl(guarded)
    await expect(overHttp('legacy', url)).rejects.toMatchObject({ data: { status: 401 } })
    const client = await overHttp('legacy', url, token)
    expect((await client.listTools()).tools).toHaveLength(3)
  })
})

test('a request is withdrawn when its client is killed', async () => {
  const ada = await newPerson()
  const script = `fetch(process.argv[1], { method: 'POST', headers: { 'content-type': 'application/json', accept:
    'application/json, text/event-stream' }, body: process.argv[2] }).then((response) => response.text())`
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'request_approval', arguments: { action: 'Deploy', approver_mobile: ada.mobile } },
  })
  const child = spawn(process.execPath, ['-e', script, toolsUrl(), body], { stdio: 'ignore' })
  await ada.waitForRequest()
  child.kill('SIGKILL')
  await expect.poll(() => ada.requests('pending')).toEqual([])
  expect(await ada.requests('expired')).toMatchObject([
    { detail: 'withdrawn because the client disconnected' },
  ])
})

test('a service that stops withdraws the requests of its tools without waiting for a decision', async () => {
  const dataDir = join(folder.path, 'stopping')
  const before = await startService(dataDir, key, ['--dev'])
  const stopped = await createPerson(remote(before.baseUrl, key), 1)
  const client = await overHttp('legacy', toolsUrl(before))
  const args = { action: 'Deploy', approver_mobile: stopped.mobile, timeout_s: 60 }
  const calling = call(client, 'request_approval', args)
  const id = await stopped.waitForRequest()
  expect(await before.stop()).toBe(0)
  const detail = expect.stringContaining('Reason: withdrawn because the service stopped.')
  expect((await calling).result).toMatchObject({ status: 'expired', request_id: id, detail })
  await client.close()
})
