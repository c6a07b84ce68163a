import { randomUUID } from 'node:crypto'
import { SvcError } from '../../../core/errors.ts'
import { isRecord } from '../../../core/is-record.ts'
import { parseJson } from '../../../core/parse-json.ts'
import { safeLine } from '../../../core/safe-text.ts'
import {
  errorLine,
  failedText,
  invalidRequest,
  progressLine,
  refusedCallLine,
  serverError,
  unknownOutcomeText,
} from './answers.ts'
import { createDefinitions, type Definitions } from './definitions.ts'
import type { createHeldCalls } from './held-calls.ts'
import { mirroredHeaders } from './mirrored-headers.ts'
import {
  readMessage,
  readServerMessage,
  type Fields,
  type Id,
  type Message,
  type ToolCall,
} from './message.ts'
import { onOneLine } from './strict-json.ts'
import { ruleFor, type Rules } from './rules.ts'
import type { OnMessage, Upstream } from './upstream.ts'

/** The name that a client gives itself. */
const nameOf = (info: unknown): string | undefined =>
  isRecord(info)
    ? [info['title'], info['name']].find((one): one is string => typeof one === 'string' && one !== '')
    : undefined

type Parts = {
  rules: Rules
  /** Starts the server. */
  open(onMessage: OnMessage): Upstream
  /** Writes one line to the client. */
  write(line: Buffer | string): void
  createHeld(definitions: Definitions, client: () => string | undefined): ReturnType<typeof createHeldCalls>
  /** Reports something to the operator. */
  note(text: string): void
}

/** The arguments in the headers are not those that the server expects; MCP. */
const headerMismatch = -32020

/** How long the server has to answer a question of the gate itself. */
const ownMs = 15_000

const serverGone = new SvcError('failed', 'server_ended', 'the server has ended')

const keyOf = (id: Id): string => JSON.stringify(id)

/** Stands between a client and a server: passes messages on, and holds back calls of tools. */
export const createGate = ({ rules, open, write, createHeld, note }: Parts) => {
  /** What the server has been sent and has not answered; with the call, if it is one. */
  const sent = new Map<string, { id: Id; call?: ToolCall }>()
  /** Calls that the server has not been sent. */
  const waiting = new Map<string, { call: ToolCall; abort: AbortController }>()
  /** Questions of the gate itself. */
  const own = new Map<string, (answer: Fields) => void>()
  const running = new Set<Promise<void>>()
  let client: string | undefined
  let isOver = false

  const list = (params: Fields): Promise<Fields> =>
    new Promise((resolve, reject) => {
      const id = `svc-gate-${randomUUID()}`
      const fail = (message: string): void =>
        reject(new SvcError('failed', 'no_answer', `The server did not describe its tools: ${message}`))
      const timer = setTimeout(() => {
        own.delete(keyOf(id))
        fail('it did not answer')
      }, ownMs)
      own.set(keyOf(id), ({ result, error }) => {
        clearTimeout(timer)
        if (isRecord(result)) resolve(result)
        else
          fail(isRecord(error) ? safeLine(String(error['message']).slice(0, 300)) : 'its answer is not valid')
      })
      const request = { jsonrpc: '2.0', id, method: 'tools/list', params }
      upstream.send(Buffer.from(JSON.stringify(request)), request)
    })

  const definitions = createDefinitions(list)
  const held = createHeld(definitions, () => client)

  const forward = (bytes: Buffer, one?: { id: Id; call?: ToolCall }): void => {
    if (isOver) return
    if (one) sent.set(keyOf(one.id), one)
    const headers = one?.call && mirroredHeaders(definitions.schemaOf(one.call.name), one.call)
    upstream.send(bytes, parseJson(bytes.toString('utf8')) as Fields, headers)
  }

  /** Forwards a call if a rule lets it pass or a person has approved it. Otherwise nothing reaches the server. */
  const decide = async (call: ToolCall, signal: AbortSignal): Promise<void> => {
    const rule = ruleFor(rules, call)
    let steps = 0
    const say = (text: string): void => {
      if (call.progressToken !== undefined && !signal.aborted)
        write(progressLine(call.progressToken, ++steps, text))
    }
    try {
      if (rule.action === 'pass') await definitions.requireListed(call.name, call.envelope)
      else {
        const verdict = await held.hold(call, rule.approval, { signal, say })
        // A cancelled call gets no answer.
        if (!verdict.approved && !signal.aborted) write(refusedCallLine(call, verdict.text))
        if (!verdict.approved) return
      }
      if (!signal.aborted) forward(call.bytes, { id: call.id, call })
    } catch (error) {
      const failure =
        error instanceof SvcError
          ? error
          : new SvcError('failed', 'internal', 'Something went wrong inside svc')
      if (!signal.aborted) write(refusedCallLine(call, failedText(call.name, failure, rule.action)))
    }
  }

  const receiveCall = (call: ToolCall): void => {
    const key = keyOf(call.id)
    const abort = new AbortController()
    client = nameOf(call.envelope['io.modelcontextprotocol/clientInfo']) ?? client
    waiting.set(key, { call, abort })
    const deciding = decide(call, abort.signal).finally(() => {
      waiting.delete(key)
      running.delete(deciding)
    })
    running.add(deciding)
  }

  const refuse = ({ why, id, isResponse }: Extract<Message, { kind: 'refused' }>): void => {
    note(`a message of the client was refused: it ${why}`)
    const text = `The message ${why}. It was not forwarded.`
    if (!isResponse) return write(errorLine(id ?? null, invalidRequest, text))
    // The server waits for it.
    if (id !== undefined)
      forward(Buffer.from(errorLine(id, invalidRequest, `The answer of the client ${why}.`)))
  }

  const receive = (line: Buffer): void => {
    const bytes = onOneLine(line)
    const message = readMessage(bytes)
    if (message.kind === 'refused') return refuse(message)
    if (message.kind === 'response') return forward(bytes)
    if (message.kind === 'notification') {
      if (message.method === 'notifications/cancelled') {
        const key = keyOf(message.params['requestId'] as Id)
        const call = waiting.get(key)
        // The server has never seen a call that waits.
        if (call) return call.abort.abort()
        sent.delete(key)
      }
      return forward(bytes)
    }
    const id = message.kind === 'call' ? message.call.id : message.id
    if (sent.has(keyOf(id)) || waiting.has(keyOf(id)))
      return write(
        errorLine(id, invalidRequest, 'The id is in use by another request. It was not forwarded.'),
      )
    if (message.kind === 'call') return receiveCall(message.call)
    if (message.method === 'initialize') client = nameOf(message.params['clientInfo'])
    forward(bytes, { id })
  }

  const relay = (bytes: Buffer): void => {
    const message = readServerMessage(bytes)
    if (!message) return note('the server wrote a line that is not one message; it was left out')
    const { id, method, error } = message
    // The server asks for other headers than its list does.
    const isOutdated = isRecord(error) && error['code'] === headerMismatch
    if (isOutdated || method === 'notifications/tools/list_changed') definitions.forget()
    if (method === undefined && id !== null && id !== undefined) {
      const key = keyOf(id as Id)
      const answer = own.get(key)
      own.delete(key)
      if (answer) return answer(message)
      // In particular an answer to a call that the server has not been sent.
      if (!sent.delete(key))
        return note('the server answered a request that it was not sent; it was left out')
    }
    write(bytes)
  }

  const upstream = open(relay)

  /** Withdraws what is pending. Nothing is forwarded from now on. */
  const end = async (): Promise<void> => {
    isOver = true
    for (const { abort } of waiting.values()) abort.abort()
    for (const answer of own.values()) answer({})
    own.clear()
    await Promise.all([held.end(), ...running])
  }

  return {
    receive,
    tooLong: () => write(errorLine(null, invalidRequest, 'The message is too long. It was not forwarded.')),
    end,
    /** Resolves when the server is gone, with the reason, after all that waits for it was answered. */
    upstreamEnded: upstream.ended.then((reason) => {
      isOver = true
      for (const { id, call } of sent.values())
        write(
          call
            ? refusedCallLine(call, unknownOutcomeText(call.name))
            : errorLine(id, serverError, 'The server ended before it answered.'),
        )
      sent.clear()
      for (const { call, abort } of waiting.values()) {
        write(refusedCallLine(call, failedText(call.name, serverGone)))
        abort.abort()
      }
      return reason
    }),
    finish: () => upstream.finish(),
  }
}
