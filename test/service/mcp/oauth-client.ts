import { createHash, randomBytes } from 'node:crypto'
import { answerTo, fromPage, fromPhone, type Phone } from '../page/phone.ts'
import { dataOf } from '../fixtures.ts'
import type { Answer, TestService } from '../harness.ts'

// A client of the authorization server, which can also make the mistakes of an attacker.

export const origin = 'http://127.0.0.1:8080'
export const callback = 'http://127.0.0.1:5555/callback'

export type Raw = { status: number; headers: Headers; text: string }

/** A request to a route that does not answer with an envelope. */
export const send = async (
  { app }: TestService,
  method: string,
  path: string,
  { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {},
): Promise<Raw> => {
  const peer = { incoming: { socket: { remoteAddress: '127.0.0.1', localPort: 8080 } } }
  const response = await app.request(`${origin}${path}`, { method, headers, body: body ?? null }, peer)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export const sendForm = (
  service: TestService,
  path: string,
  fields: Record<string, string | undefined>,
): Promise<Raw> => {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return send(service, 'POST', path, { body: new URLSearchParams(given).toString(), headers })
}

export const register = (service: TestService, metadata: object): Promise<Raw> =>
  send(service, 'POST', '/register', {
    body: JSON.stringify(metadata),
    headers: { 'content-type': 'application/json' },
  })

export const registered = async (service: TestService, redirect_uris = [callback]): Promise<string> =>
  JSON.parse((await register(service, { client_name: 'Robo Coder', redirect_uris })).text).client_id

export const createVerifier = () => {
  const code_verifier = randomBytes(32).toString('base64url')
  return { code_verifier, code_challenge: createHash('sha256').update(code_verifier).digest('base64url') }
}

type Fields = Record<string, string | undefined>

export const authorize = (service: TestService, fields: Fields): Promise<Raw> => {
  const given = Object.entries({
    response_type: 'code',
    redirect_uri: callback,
    code_challenge_method: 'S256',
    scope: 'ask',
    state: 'abc',
    resource: `${origin}/mcp`,
    ...fields,
  }).filter((field): field is [string, string] => field[1] !== undefined)
  return send(service, 'GET', `/authorize?${new URLSearchParams(given)}`)
}

/** The sealed request that the approver page gets. */
export const requestIn = ({ headers }: Raw): string =>
  /#authorize=(.*)$/.exec(headers.get('location') ?? '')?.[1] ?? ''

export const consentFrom = async (
  service: TestService,
  { cookie, key }: Phone,
  request: string,
  name = 'Coder',
): Promise<Answer> => {
  const read = await fromPhone(service, 'POST', 'consent/request', { cookie, body: { request } })
  const shown = { request, name, scopes: dataOf(read)?.scopes ?? ['ask'] }
  const { challenge } = dataOf(await fromPhone(service, 'POST', 'consent/challenge', { cookie, body: shown }))
  const body = { ...shown, challenge, response: answerTo(challenge, key) }
  return fromPhone(service, 'POST', 'consent', { cookie, body, headers: fromPage })
}

/** From the registration to the code, as an honest client and person do it. */
export const obtainCode = async (service: TestService, phone: Phone, client_id?: string) => {
  const id = client_id ?? (await registered(service))
  const verifier = createVerifier()
  const { code_challenge, code_verifier } = verifier
  const request = requestIn(await authorize(service, { client_id: id, code_challenge }))
  const { redirect_to } = dataOf(await consentFrom(service, phone, request))
  const back = new URL(redirect_to as string)
  return { client_id: id, code_verifier, back, code: back.searchParams.get('code') ?? '' }
}

export const exchange = (service: TestService, fields: Fields): Promise<Raw> =>
  sendForm(service, '/token', {
    grant_type: 'authorization_code',
    redirect_uri: callback,
    resource: `${origin}/mcp`,
    ...fields,
  })

export const connect = async (service: TestService, phone: Phone): Promise<string> => {
  const { client_id, code_verifier, code } = await obtainCode(service, phone)
  return JSON.parse((await exchange(service, { client_id, code_verifier, code })).text).access_token
}

/** A call of the tools. */
export const callTools = (service: TestService, token: string | undefined, body: object): Promise<Raw> =>
  send(service, 'POST', '/mcp', {
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  })

export const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

type AgentKey = { id: string; name: string; client_name: string | null; expires_at: string; revoked_at: null }

/** The keys of agents and terminals that work, as an administrator of keys sees them. */
export const agentKeys = async ({ call, storage }: TestService, key?: string): Promise<AgentKey[]> => {
  const keys = dataOf(await call('GET', '/svc/v1/keys', { key })) as AgentKey[]
  return keys.filter(
    (one) => one.client_name !== null && one.revoked_at === null && one.expires_at > storage.now(),
  )
}
