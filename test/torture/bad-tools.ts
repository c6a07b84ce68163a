import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { startService } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { careless, nasty } from './bad-inputs.ts'
import { enrollApprover } from './enrolled-approver.ts'
import { call, must } from './requests.ts'
import { sendAll } from './send-all.ts'
import type { Result, Torture } from './torture.ts'

type Bad = { kind: string; body: string; headers: Record<string, string>; bearer: boolean }

const mobile = '+12025550101'

const sound: Record<string, Record<string, unknown>> = {
  request_approval: { action: 'Deploy', approver_mobile: mobile, timeout_s: 1 },
  request_approval_async: { action: 'Deploy', approver_mobile: mobile, factors: ['biometric'] },
  check_status: { request_id: 'apr_3mYk8wQZ' },
}

/** A message that is wrong in one of many ways, or right by chance. */
const badMessage = fc
  .record({
    tool: fc.constantFrom(...Object.keys(sound)),
    kind: fc.constantFrom(
      'wrong argument',
      'missing argument',
      'unknown argument',
      'no arguments',
      'unknown tool',
      'unknown method',
      'wrong version',
      'odd id',
      'batch',
      'not JSON',
      'not an object',
      'deep',
      'too large',
      'headers',
    ),
    value: nasty,
    at: fc.nat(),
    bearer: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  })
  .map(({ tool, kind, value, at, bearer }): Bad => {
    const args: Record<string, unknown> = { ...sound[tool] }
    const name = Object.keys(args)[at % Object.keys(args).length]!
    // A longer time is lowered, and null is none: then it waits, too.
    const isWait = name === 'timeout_s' && (value === null || (typeof value === 'number' && value > 10))
    if (kind === 'wrong argument' && !isWait) args[name] = value
    // Without timeout_s, request_approval waits for most of a minute on purpose.
    if (kind === 'missing argument' && name !== 'timeout_s') delete args[name]
    if (kind === 'unknown argument') args[`x${at}`] = value
    const params: Record<string, unknown> = { name: kind === 'unknown tool' ? value : tool, arguments: args }
    if (kind === 'no arguments') params['arguments'] = value
    const message: Record<string, unknown> = { jsonrpc: '2.0', id: at, method: 'tools/call', params }
    if (kind === 'unknown method') message['method'] = value
    if (kind === 'wrong version') message['jsonrpc'] = value
    if (kind === 'odd id') message['id'] = value
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    if (kind === 'headers') {
      const odd = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id', 'content-encoding'][
        at % 5
      ]!
      headers[odd] = ['*/*', 'text/html', '1999-01-01', 'gzip', 'x'.repeat(500)][(at >> 3) % 5]!
    }
    const text = JSON.stringify(message)
    const bodies: Record<string, string> = {
      batch: JSON.stringify([message, value, message]),
      'not JSON': `${text.slice(0, -1)}${JSON.stringify(value)?.slice(0, 20)}`,
      'not an object': JSON.stringify(value) ?? 'null',
      deep: '['.repeat(5_000) + ']'.repeat(5_000),
      'too large': `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"${'x'.repeat(1_100_000)}"}`,
    }
    return { kind, body: bodies[kind] ?? text, headers, bearer }
  })

type Message = { jsonrpc?: unknown; result?: unknown; error?: { code?: unknown; message?: unknown } }

/** The messages of an answer, whole or as a stream. */
const messagesOf = (text: string, type: string): Message[] => {
  const texts = type.includes('event-stream')
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    : [text]
  return texts.filter((one) => one !== '').flatMap((one) => JSON.parse(one) as Message | Message[])
}

const isMessage = ({ jsonrpc, result, error }: Message): boolean =>
  jsonrpc === '2.0' &&
  (error ? Number.isInteger(error.code) && typeof error.message === 'string' : result !== undefined)

const problemOf = async (url: string, bearer: string | undefined, bad: Bad): Promise<string | undefined> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...bad.headers, ...(bearer && bad.bearer && { authorization: `Bearer ${bearer}` }) },
    body: bad.body,
    signal: AbortSignal.timeout(10_000),
  })
  const text = await response.text()
  if (response.status >= 500) return `answered ${response.status}`
  if (!bad.bearer && response.status !== 401) return `answered ${response.status} without a bearer`
  if (response.status === 202) return text === '' ? undefined : '202 with a body'
  const messages = messagesOf(text, response.headers.get('content-type') ?? '')
  return messages.length > 0 && messages.every(isMessage) ? undefined : `not JSON-RPC: ${text.slice(0, 80)}`
}

const sendMessages = (url: string, bearer: string | undefined, inputs: Bad[]) =>
  sendAll(
    inputs,
    (bad) => problemOf(url, bearer, bad),
    ({ body }) => body.slice(0, 120),
  )

export const torture: Torture = {
  name: 'Bad input for the three tools, 9 in 10 past authentication',
  must: '0 5xx, 0 hangs, always JSON-RPC',
  run: async (): Promise<Result> => {
    const count = 6_000
    const inputs = fc.sample(badMessage, { numRuns: count, seed: 42 })
    const folder = temporaryFolder()
    const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const token = randomBytes(24).toString('hex')
    const service = await startService(folder.path, key, ['--dev'], { MCP_AUTH_TOKEN: token })
    const stub = await careless()
    try {
      await must(call(service.baseUrl, 'createOrganization', key, { name: 'Acme', slug: 'acme' }))
      await enrollApprover(service.baseUrl, key, 1, { mobile: mobile.slice(2) })
      const honest = await sendMessages(`${new URL(service.baseUrl).origin}/mcp`, token, inputs)
      const broken = await sendMessages(stub.origin, token, inputs.slice(0, 500))
      return { count, ...honest, control: broken.failures }
    } finally {
      stub.close()
      await service.stop()
      folder.remove()
    }
  },
}
