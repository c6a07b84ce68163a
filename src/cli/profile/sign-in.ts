import { hostname } from 'node:os'
import * as z from 'zod/mini'
import type { Scope } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import { randomToken, sha256Base64url } from '../../core/ids.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import { hostOf } from '../../core/network-error.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import { fitted } from '../terminal/wrap.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Transport } from '../../core/transport.ts'
import { apiRoot } from '../../client/address.ts'
import { getPublicJson } from '../../client/public-json.ts'
import { mayComeBack } from '../../client/retry.ts'
import type { Io } from '../terminal/io.ts'
import { openInBrowser, receiveRedirect } from './browser.ts'
import { sleepFor } from '../../core/sleep.ts'

// A person signs in with the browser of this machine: authorization code with PKCE and a loopback redirect (RFC 8252).

/** The client that every installation of svc is. */
const client_id = 'svc'
const waitMs = 10 * 60_000

const machineName = (): string =>
  hostname()
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, 60) || 'this machine'

const metadata = z.object({ issuer: z.url(), authorization_endpoint: z.url() })

const secret = z.string().check(z.regex(/^[!-~]{1,512}$/))

const device = z.object({
  device_code: secret,
  user_code: z.string(),
  verification_uri: z.string(),
  expires_in: z.int().check(z.gte(1), z.lte(3600)),
  interval: z.number().check(z.gte(1), z.lte(60)),
})

const tokens = z.object({
  access_token: secret,
  expires_in: z.int().check(z.gte(1), z.lte(31_536_000)),
  management_token: z.optional(secret),
  /** Who signed in, and the slug of the organization. */
  person: z.string(),
  organization: z.string(),
})

export type Tokens = z.infer<typeof tokens>

export type Installation = {
  origin: string
  installation: string
  scopes: readonly Scope[]
  /** The command, for hints. */
  again: string
  /** Without a browser: the person types a code on another device. */
  byCode: boolean
  /** Plays the browser and the phone: with this, nobody has to open the address. */
  consent?: ((url: string, transport: Transport, signal: AbortSignal) => Promise<string>) | undefined
}

/** Whether two addresses are of one service. On this machine, it has several names. */
const isSameService = (one: URL, other: URL): boolean =>
  isLoopbackHost(one.hostname) && isLoopbackHost(other.hostname)
    ? one.protocol === other.protocol && one.port === other.port
    : one.origin === other.origin

/**
 * Where the browser goes. A service that names another one would get the code that a person gives that one (RFC 9700, section
 * 4.4), and an address of another kind would start another program.
 */
const readMetadata = async (transport: Transport, { origin, again }: Installation, signal: AbortSignal) => {
  const noSignIn = (why: string, hint: string): SvcError =>
    new SvcError('refused', 'no_sign_in', `People cannot sign in at ${hostOf(origin)}${why}`, { hint })
  let answer: unknown
  try {
    answer = await getPublicJson(transport, `${origin}/.well-known/oauth-authorization-server`, signal)
  } catch (error) {
    if (error instanceof SvcError && !error.code.startsWith('http_') && error.code !== 'not_json') throw error
  }
  const read = metadata.safeParse(answer)
  if (!read.success) throw noSignIn('', `Save a key instead: ${again} --with-key`)
  const { issuer, authorization_endpoint } = read.data
  const [own, page] = [new URL(issuer), new URL(authorization_endpoint)]
  if (!isSameService(new URL(origin), own) || page.origin !== own.origin)
    throw noSignIn(
      `: it says that it is ${safeLine(issuer)}`,
      `If that is its address: svc profile login NAME --base-url ${shellQuote(`${own.origin}${apiRoot}`)}`,
    )
  return { issuer, authorization_endpoint: page.href }
}

const form = (transport: Transport, url: string, fields: Record<string, string>, signal: AbortSignal) => {
  const body = new URLSearchParams(fields).toString()
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'svc',
  }
  return transport({ method: 'POST', url, headers, body }, signal)
}

/** Waits until the person has typed a code on the approver page, on whatever device (RFC 8628). */
const waitForCode = async (
  { origin, installation, scopes }: Installation,
  transport: Transport,
  io: Io,
): Promise<Tokens> => {
  const post = (path: string, fields: Record<string, string>) =>
    form(transport, `${origin}${path}`, { client_id, ...fields }, io.signal)
  const fields = { installation, host: machineName(), scope: scopes.join(' ') }
  const started = await post('/device_authorization', fields)
  if (started.status !== 200) throw refused(started.status, started.body, origin)
  const { device_code, user_code, ...told } = readAnswer(device, started.body, origin)
  const { verification_uri, expires_in, interval } = told
  const until = io.now().getTime() + expires_in * 1000
  const text = `Open ${safeLine(verification_uri)} on a device that you approve with, and type this code:\n\n  ${safeLine(user_code)}\n\nWaiting until you have signed in\n`
  io.stderr.write(fitted(text, io.stderr))
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  for (;;) {
    await sleepFor(interval * 1000, io.signal)
    try {
      const { status, body } = await post('/token', { grant_type, device_code })
      if (status === 200) return readAnswer(tokens, body, origin)
      if (!body.includes('"authorization_pending"')) throw refused(status, body, origin)
    } catch (error) {
      // The code outlives a restart of the service.
      if (!mayComeBack(error) || io.now().getTime() > until) throw error
    }
  }
}

const refused = (status: number, body: string, origin: string): SvcError => {
  const why =
    /"error_description":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? `${hostOf(origin)} answered ${status}`
  const message = safeLine(`Not signed in: ${why}`)
  if (body.includes('"access_denied"'))
    return new SvcError('denied', 'access_denied', message, { hint: 'Nothing was saved' })
  return new SvcError('refused', 'not_signed_in', message, {
    hint: 'Nothing was saved. Run the command again',
    http_status: status,
  })
}

/** Opens the address, if this machine has a screen, and prints it in any case. */
const show = (url: string, { io }: { io: Io }): void => {
  const opened = openInBrowser(url, io.env)
  const what = opened
    ? 'Sign in with the browser that opens now, or open'
    : 'This machine shows no browser: --device signs in with a code. Or open'
  const text = `${what} this address on this machine:\n\n  ${safeLine(url)}\n\nWaiting until you have signed in\n`
  io.stderr.write(fitted(text, io.stderr))
}

const readAnswer = <T>(schema: z.ZodMiniType<T>, body: string, origin: string): T => {
  const read = schema.safeParse(parseJson(body))
  if (read.success) return read.data
  throw refused(200, '', origin)
}

/** Signs a person in, and returns the keys of this installation. Fails with an SvcError, and then nothing was saved. */
export const signIn = async (asked: Installation, transport: Transport, io: Io): Promise<Tokens> => {
  const { origin, installation, scopes } = asked
  const { issuer, authorization_endpoint } = await readMetadata(transport, asked, io.signal)
  if (asked.byCode) return waitForCode(asked, transport, io)
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(waitMs)])
  const { redirect_uri, received, close } = await receiveRedirect(signal)
  try {
    const [code_verifier, state] = [randomToken(), randomToken(16)]
    const query = new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri,
      code_challenge: sha256Base64url(code_verifier),
      code_challenge_method: 'S256',
      state,
      scope: scopes.join(' '),
      installation,
      host: machineName(),
    })
    const url = `${authorization_endpoint}?${query}`
    const answer = received({ state, issuer })
    if (asked.consent) {
      const there = await asked.consent(url, transport, signal)
      void transport({ method: 'GET', url: there, headers: {} }, signal).catch(() => undefined)
    } else show(url, { io })
    const code = await answer
    const fields = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier }
    const { status, body } = await form(transport, `${origin}/token`, fields, io.signal)
    if (status !== 200) throw refused(status, body, origin)
    return readAnswer(tokens, body, origin)
  } finally {
    close()
  }
}

/** Ends a sign-in at the service: both keys of this installation (RFC 7009). */
export const signOut = async (origin: string, token: string, transport: Transport, io: Io): Promise<void> => {
  const { status, body } = await form(transport, `${origin}/revoke`, { client_id, token }, io.signal)
  if (status !== 200) throw refused(status, body, origin)
}
