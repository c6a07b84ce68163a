import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { remote } from '../e2e/person.ts'
import { startService, type Service } from '../e2e/processes.ts'
import { answerTo, cookieOf, fromPhone, linkFor, phoneRegistration } from '../service/page/phone.ts'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The scenarios of the official suite for authorization servers. A program plays the person at the approver page.

const operator = 'svc_op_conformance_0123456789012345678901234567'
const suite = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
const folder = temporaryFolder()
let running: Service

beforeAll(async () => {
  running = await startService(join(folder.path, 'data'), operator)
})
afterAll(async () => {
  await running.stop()
  folder.remove()
})

/** A person with a phone, who allows what a client asks and follows the redirect. */
const createPerson = async (issuer: string) => {
  const origin = issuer.replace('127.0.0.1', 'localhost')
  const where = { origin, rpId: 'localhost' }
  const service = remote(running.baseUrl.replace('127.0.0.1', 'localhost'), operator)
  const org = await createTenant(service, 'acme')
  const user = await createMember(service, org.id, 1)
  const token = await linkFor(service, org.id, user.id)
  const headers = { origin }
  const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token }, headers }))
  const { key, response } = phoneRegistration(ceremony, where)
  const body = { token, name: 'Pixel', response }
  const cookie = cookieOf(await service.call('POST', '/svc/v1/devices', { key: null, body, headers }))
  return async (address: string): Promise<void> => {
    const opened = await fetch(address, { redirect: 'manual' })
    const request = opened.headers.get('location')!.split('#authorize=')[1]!
    const asked = { request, name: 'Suite', scopes: ['ask'] }
    const { challenge } = dataOf(
      await fromPhone(service, 'POST', 'consent/challenge', { cookie, headers, body: asked }),
    )
    const given = { ...asked, challenge, response: answerTo(challenge, key, true, where) }
    const consent = await fromPhone(service, 'POST', 'consent', { cookie, headers, body: given })
    await fetch(dataOf(consent).redirect_to as string)
  }
}

test('passes the scenarios for authorization servers', async () => {
  const issuer = new URL(running.baseUrl).origin
  const allow = await createPerson(issuer)
  const registration = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
  })
  const { client_id } = (await registration.json()) as { client_id: string }
  const port = String(await findPort())
  const flags = ['--url', issuer, '--client-id', client_id, '--resource', `${issuer}/mcp`, '--port', port]
  const results = join(folder.path, 'results')
  const node = ['--yes', '--package', 'node@22', 'node']
  const args = [...node, suite, 'authorization', ...flags, '--output-dir', results]
  const child = spawn('npx', args, { cwd: folder.path, stdio: ['ignore', 'pipe', 'ignore'] })
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith(`${issuer}/authorize`)) void allow(line.trim())
  })
  await once(child, 'close')
  const checks = readdirSync(results).flatMap(
    (name) =>
      JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as {
        id: string
        status: string
      }[],
  )
  expect(Object.fromEntries(checks.map(({ id, status }) => [id, status]))).toEqual({
    'authorization-server-metadata': 'SUCCESS',
    // Clients register; documents about them are optional, and svc has none (decision 0083).
    'authorization-server-metadata-cimd': 'WARNING',
    'authorization-code-grant': 'SUCCESS',
  })
})
