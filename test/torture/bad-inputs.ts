import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { assert } from '../../src/client/software-authenticator.ts'
import { planRequest } from '../../src/client/request.ts'
import type { OperationId } from '../../src/contract/table.ts'
import { startService } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { enrollApprover } from './enrolled-approver.ts'
import { call, exampleInput, must, operationIds, operationOf, send } from './requests.ts'
import { sendAll } from './send-all.ts'
import type { Result, Torture } from './torture.ts'

type Bad = {
  id: OperationId
  kind: string
  method: string
  path: string
  body?: string | undefined
  headers: Record<string, string>
  keyless: boolean
}

export const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1e308,
    2 ** 53,
    1.5,
    '',
    ' ',
    '\u0000',
    '\u202e',
    '__proto__',
    [],
    {},
    [[]],
  ),
  fc.constantFrom<unknown>(
    'x'.repeat(10_000),
    "'; DROP TABLE organizations; --",
    '../../etc/passwd',
    '${7*7}',
    '%00',
    '\ud800',
  ),
  fc.jsonValue({ maxDepth: 4 }),
)

/** A body that is wrong in one of many ways, or right by chance. It must be answered in any case. */
const badInput = fc
  .record({
    id: fc.constantFrom(
      ...operationIds.filter((id) => !['deleteOrganization', 'revokeKey', 'closeSession'].includes(id)),
    ),
    kind: fc.constantFrom(
      'wrong type',
      'missing',
      'unknown field',
      '__proto__',
      'wrong id',
      'not JSON',
      'wrong encoding',
      'wrong content type',
      'not an object',
      'deep',
      'too large',
      'query junk',
    ),
    value: nasty,
    at: fc.nat(),
    keyless: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ id, kind, value, at, keyless }): Bad => {
    const operation = operationOf(id)
    const input = exampleInput(id)
    // A right line that waits is not a hang.
    if ('wait_s' in input) input['wait_s'] = 1
    const names = Object.keys(input)
    const name = names[at % Math.max(names.length, 1)] ?? 'x'
    if (kind === 'wrong type') input[name] = value
    if (kind === 'missing' && !operation.path.includes(`{${name}}`)) delete input[name]
    if (kind === 'unknown field') input[`x${at}`] = value
    if (kind === 'wrong id')
      for (const field of names) if (operation.path.includes(`{${field}}`)) input[field] = value
    const plan = planRequest('http://x/admin/public/api', operation, sendable(input))
    let body = plan.body && JSON.stringify(plan.body)
    const headers: Record<string, string> = {}
    if (kind === '__proto__')
      body = `{"__proto__":{"admin":true},"constructor":{"prototype":1},${(body ?? '{}').slice(1)}`
    if (kind === 'not JSON') body = `${(body ?? '{').slice(0, -1)}${JSON.stringify(value)?.slice(0, 20)}`
    if (kind === 'not an object') body = JSON.stringify(value) ?? 'null'
    if (kind === 'deep') body = '['.repeat(5_000) + ']'.repeat(5_000)
    if (kind === 'too large') body = `{"name":"${'x'.repeat(1_100_000)}"}`
    if (kind === 'wrong content type')
      headers['content-type'] = at % 2 ? 'text/plain' : 'application/json; charset=utf-16'
    if (kind === 'wrong encoding') headers['content-encoding'] = 'gzip'
    const url = new URL(plan.url)
    if (kind === 'query junk')
      url.search = `?limit=${encodeURIComponent(JSON.stringify(value).toWellFormed())}&limit=2&__proto__=1`
    const bodyless = plan.method === 'GET' || plan.method === 'DELETE'
    return {
      id,
      kind,
      method: plan.method,
      path: url.pathname + url.search,
      body: bodyless ? undefined : (body ?? '{}'),
      headers,
      keyless,
    }
  })

/** A lone surrogate is not possible in a URL, so the replacement character is sent. */
const sendable = (input: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string'
        ? value.toWellFormed()
        : typeof value === 'object'
          ? JSON.parse(JSON.stringify(value ?? null).toWellFormed())
          : value,
    ]),
  )

/** The session cookie of an admin of organization 1 on the approver page. */
const openPage = async (baseUrl: string, key: string): Promise<string> => {
  const { authenticator } = await enrollApprover(baseUrl, key, 1, { role: 'admin' })
  const { origin, port } = new URL(baseUrl)
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${origin}/svc/v1/approver/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { data } = (await (await post('challenge', {})).json()) as { data: { challenge: string } }
  const { challenge } = data
  const where = { origin: `http://localhost:${port}`, rpId: 'localhost' }
  const opened = await post('session', {
    challenge,
    response: assert(authenticator, { challenge, ...where }),
  })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0]
  if (cookie === undefined) throw new Error(`No session: ${opened.status} ${await opened.text()}`)
  return cookie
}

/** Sends every input. Wrong is a 5xx, no response in time, or a response without the envelope. */
const sendInputs = (origin: string, key: string, cookie: string, inputs: Bad[]) =>
  sendAll(
    inputs,
    async (bad, count) => {
      const { status, body } = await send(
        origin + bad.path,
        bad.method,
        bad.keyless ? undefined : key,
        bad.body,
        { ...bad.headers, 'sec-fetch-site': 'same-origin', ...(bad.keyless ? {} : { cookie }) },
      )
      count(`${Math.floor(status / 100)}xx`)
      if (status >= 500) return `answered ${status}`
      if (bad.keyless && !operationOf(bad.id).open && ![401, 404, 431].includes(status))
        return `answered ${status} without a key`
      if (status < 300 !== (body.status === 'success')) return `status ${String(body.status)} with ${status}`
      const code = (body.data as { code?: unknown } | undefined)?.code
      return status >= 300 && typeof code !== 'string' ? 'no data.code' : undefined
    },
    (bad) => `${bad.id} ${bad.path.slice(0, 80)} ${bad.body?.slice(0, 80) ?? ''}`,
  )

/** A careless service: it parses, and fails with 500. */
export const careless = async () => {
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      try {
        if (text) JSON.parse(text)
        response.end('{"status":"success","message":"ok"}')
      } catch (error) {
        response.writeHead(500).end(String(error))
      }
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

export const torture: Torture = {
  name: 'Bad input for every operation, 9 in 10 past authentication',
  must: '0 5xx, 0 hangs, always the envelope',
  run: async (): Promise<Result> => {
    const count = 58_000
    const inputs = fc.sample(badInput, { numRuns: count, seed: 42 })
    const folder = temporaryFolder()
    const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const service = await startService(folder.path, key, ['--dev'])
    const stub = await careless()
    try {
      for (const slug of ['acme', 'globex'])
        await must(call(service.baseUrl, 'createOrganization', key, { name: slug, slug }))
      const cookie = await openPage(service.baseUrl, key)
      const honest = await sendInputs(new URL(service.baseUrl).origin, key, cookie, inputs)
      const broken = await sendInputs(stub.origin, key, '', inputs.slice(0, 500))
      return { count, ...honest, control: broken.failures }
    } finally {
      stub.close()
      await service.stop()
      folder.remove()
    }
  },
}
