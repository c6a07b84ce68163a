import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createHmac, generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { findPort } from '../free-port.ts'
import { createApprover } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import { root } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createPerson, remote, type Person } from './person.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'

// docs/github-rule.mjs between a real service and a stand-in of GitHub.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
const secret = 'a-secret-of-the-webhook'
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const { path: folder, remove } = temporaryFolder()
let service: ServiceHere
let ada: Person
let people = 0

type Call = { path: string; authorization: string; content: Record<string, unknown> }
let github: Server
let calls: Call[]
/** What the next answers to a review are; 204 if nothing is left. */
let statuses: number[]

const isOfApp = (bearer: string): boolean => {
  const [head, claims, signature] = bearer.replace('Bearer ', '').split('.')
  const { iss, iat, exp } = JSON.parse(Buffer.from(claims!, 'base64url').toString()) as Record<string, number>
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature!, 'base64url'),
  )
  return isSigned && iss === ('12' as unknown) && exp! - iat! <= 600
}

const answer = async (request: IncomingMessage): Promise<[status: number, body: object | undefined]> => {
  const { url: path = '', headers } = request
  const { authorization = '' } = headers
  const content = JSON.parse(await text(request)) as Call['content']
  if (path === '/app/installations/7/access_tokens')
    return isOfApp(authorization) ? [201, { token: 'ghs_1' }] : [401, {}]
  calls.push({ path, authorization, content })
  return [statuses.shift() ?? 204, undefined]
}

let rule: ChildProcess
let port: number

const startRule = async (): Promise<void> => {
  rule = spawn(process.execPath, ['github-rule.mjs'], {
    cwd: join(folder, 'rule'),
    env: {
      PATH: process.env.PATH,
      GITHUB_API: `http://127.0.0.1:${(github.address() as AddressInfo).port}`,
      GITHUB_APP_ID: '12',
      GITHUB_SECRET_FILE: join(folder, 'secret'),
      GITHUB_KEY_FILE: join(folder, 'app.pem'),
      STATE_DIR: join(folder, 'state'),
      SVC_BASE_URL: service.baseUrl,
      SVC_ASK_KEY_FILE: join(folder, 'ask.key'),
      ALLOW_DEV: 'yes',
      PORT: String(port),
    },
    stdio: 'ignore',
  })
  await expect.poll(() => deliver({}, { event: 'ping' })).toBe(204)
}
const stopRule = async (): Promise<void> => {
  rule.kill('SIGKILL')
  if (rule.exitCode === null && rule.signalCode === null) await once(rule, 'exit')
}

/** As GitHub sends it. Returns the status, or 0 if nothing answers. */
const deliver = async (
  payload: object,
  { event = 'deployment_protection_rule', key = secret, run = 42 } = {},
): Promise<number> => {
  const { port: at } = github.address() as AddressInfo
  const deployment_callback_url = `http://127.0.0.1:${at}/repos/acme/shop/actions/runs/${run}/deployment_protection_rule`
  const body = JSON.stringify({
    action: 'requested',
    environment: 'production',
    event: 'push',
    deployment_callback_url,
    deployment: { id: 3, ref: 'main', sha: 'ab'.repeat(20), environment: 'production' },
    repository: { id: 321, full_name: 'acme/shop', html_url: 'https://github.com/acme/shop' },
    installation: { id: 7 },
    sender: { login: 'octocat' },
    ...payload,
  })
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  }
  const sent = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
  return sent.then(({ status }) => status).catch(() => 0)
}
const reviews = async (): Promise<Call[]> => {
  await expect.poll(() => calls.length).toBeGreaterThan(0)
  return calls
}

beforeAll(async () => {
  mkdirSync(join(folder, 'rule', 'node_modules', 'svc-library'), { recursive: true })
  copyFileSync(join(root, 'docs', 'github-rule.mjs'), join(folder, 'rule', 'github-rule.mjs'))
  const library = join(folder, 'rule', 'node_modules', 'svc-library')
  writeFileSync(join(library, 'package.json'), '{"name": "svc-library", "exports": "./svc.mjs"}')
  symlinkSync(join(root, 'dist', 'library', 'svc.mjs'), join(library, 'svc.mjs'))
  writeFileSync(join(folder, 'secret'), secret)
  writeFileSync(join(folder, 'app.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  service = await startServiceHere(join(folder, 'data'), operator, { dev: true })
  port = await findPort()
  github = createServer((request, response) => {
    void answer(request).then(([status, body]) =>
      response.writeHead(status).end(body && JSON.stringify(body)),
    )
  }).listen(0, '127.0.0.1')
  await once(github, 'listening')
})
afterAll(async () => {
  github.close()
  await service.stop()
  remove()
})
beforeEach(async () => {
  ;[calls, statuses] = [[], []]
  const asked = remote(service.baseUrl, operator)
  const { call } = asked
  ada = await createPerson(asked, (people += 1))
  const { id } = ada.org
  const grace = await createApprover(asked, id, 50 + people)
  const create = async (path: string, body: object) => dataOf(await call('POST', path, { body }))
  await create(`/svc/v1/organizations/${id}/groups`, { name: 'sre', members: [ada.id, grace.id] })
  await create(`/svc/v1/organizations/${id}/rules`, {
    name: 'deploys',
    match: { type: 'tool_call', server: ['GitHub'], tool: ['deploy'] },
    who: ['@sre'],
    lifetime_s: 3600,
  })
  const { key } = await create('/svc/v1/keys', { name: 'github', org_id: id, scopes: ['ask'] })
  writeFileSync(join(folder, 'ask.key'), key as string)
  mkdirSync(join(folder, 'state'), { recursive: true })
  await startRule()
})
afterEach(stopRule)

test('the program has at most 80 lines, as its page says', () => {
  expect(
    readFileSync(join(root, 'docs', 'github-rule.mjs'), 'utf8')
      .trim()
      .split('\n').length,
  ).toBeLessThan(81)
})

test('the program names the variables that are not set', () => {
  const { stderr } = spawnSync(process.execPath, ['github-rule.mjs'], { cwd: join(folder, 'rule'), env: {} })
  expect(String(stderr)).toContain('Not set: GITHUB_APP_ID, GITHUB_KEY_FILE, GITHUB_SECRET_FILE')
})

test('a deployment waits on GitHub, and goes on once its people have approved exactly it', async () => {
  statuses = [502]
  expect(await deliver({})).toBe(202)
  // GitHub delivers again if a person asks it to.
  expect(await deliver({})).toBe(202)
  const request_id = await ada.answer()
  await expect.poll(() => calls.length).toBe(2)
  expect(calls[1]).toEqual({
    path: '/repos/acme/shop/actions/runs/42/deployment_protection_rule',
    authorization: 'Bearer ghs_1',
    content: {
      environment_name: 'production',
      state: 'approved',
      comment: expect.stringContaining(`approved (${request_id})`),
    },
  })
  const [approved] = (await ada.requests('approved')) as unknown as {
    subject: object
    used_at: string | null
  }[]
  expect(approved).toMatchObject({
    subject: {
      type: 'tool_call',
      data: {
        server: 'GitHub',
        tool: 'deploy',
        arguments: {
          environment: 'production',
          ref: 'main',
          sha: 'ab'.repeat(20),
          run: 'https://github.com/acme/shop/actions/runs/42',
        },
      },
    },
    used_at: expect.any(String),
  })
  await expect.poll(() => readdirSync(join(folder, 'state'))).toEqual([])
})

test('a denial rejects it, with the request as the comment', async () => {
  await deliver({})
  const request_id = await ada.answer({ decision: 'deny' })
  expect((await reviews())[0]!.content).toMatchObject({
    state: 'rejected',
    comment: expect.stringContaining(`denied (${request_id})`),
  })
})

test('a restart loses no open request, and asks nobody twice', async () => {
  await deliver({})
  const request_id = await ada.waitForRequest()
  await stopRule()
  await startRule()
  expect(await ada.answer()).toBe(request_id)
  expect((await reviews())[0]!.content).toMatchObject({ state: 'approved' })
  expect(await ada.requests('approved')).toHaveLength(1)
})

test('nobody is asked after a webhook that GitHub did not sign', async () => {
  expect(await deliver({}, { key: 'another-secret-of-16' })).toBe(401)
  expect(await deliver({}, { event: 'push' })).toBe(204)
  const unsigned = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })
  expect(unsigned.status).toBe(401)
  expect([await ada.requests('pending'), readdirSync(join(folder, 'state'))]).toEqual([[], []])
})

test('a deployment that no rule holds is rejected', async () => {
  const { call } = remote(service.baseUrl, operator)
  dataOf(await call('DELETE', `/svc/v1/organizations/${ada.org.id}/rules/deploys`))
  await deliver({})
  expect((await reviews())[0]!.content).toMatchObject({
    state: 'rejected',
    comment: expect.stringMatching(/rule/),
  })
})
