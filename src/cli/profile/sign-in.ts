import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import * as z from 'zod/mini'
import type { Scope } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import { randomToken } from '../../core/ids.ts'
import { hostOf } from '../../core/network-error.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Transport } from '../../core/transport.ts'
import { getPublicJson } from '../../client/public-json.ts'
import type { Io } from '../terminal/io.ts'
import { openInBrowser } from './browser.ts'
import { sleepFor } from '../../core/sleep.ts'
import { receiveRedirect } from './loopback.ts'

// A person signs in with the browser of this machine: authorization code with PKCE and a loopback redirect (RFC 8252).

/** The client that every installation of svc is. */
const client_id = 'svc'
const waitMs = 10 * 60_000

const machineName = (): string =>
  hostname()
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, 60) || 'this machine'

const metadata = z.object({ issuer: z.string(), authorization_endpoint: z.string() })

const device = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  interval: z.number(),
})

const tokens = z.object({
  access_token: z.string(),
  expires_in: z.number(),
  management_token: z.optional(z.string()),
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

const readMetadata = async (transport: Transport, { origin, again }: Installation, signal: AbortSignal) => {
  try {
    return metadata.parse(
      await getPublicJson(transport, `${origin}/.well-known/oauth-authorization-server`, signal),
    )
  } catch (error) {
    if (error instanceof SvcError && !error.code.startsWith('http_') && error.code !== 'not_json') throw error
    throw new SvcError('refused', 'no_sign_in', `People cannot sign in at ${hostOf(origin)}`, {
      hint: `Save a key instead: ${again} --with-key`,
    })
  }
}

const form = async (
  transport: Transport,
  url: string,
  fields: Record<string, string>,
  signal: AbortSignal,
) => {
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
  const { device_code, user_code, verification_uri, interval } = device.parse(JSON.parse(started.body))
  io.stderr.write(
    `Open ${safeLine(verification_uri)} on a device that you approve with, and type this code:\n\n  ${safeLine(user_code)}\n\nWaiting until you have signed in\n`,
  )
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  for (;;) {
    await sleepFor(Math.max(interval, 1) * 1000, io.signal)
    const { status, body } = await post('/token', { grant_type, device_code })
    if (status === 200) return tokens.parse(JSON.parse(body))
    if (!body.includes('"authorization_pending"')) throw refused(status, body, origin)
  }
}

const refused = (status: number, body: string, origin: string): SvcError => {
  const why =
    /"error_description":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? `${hostOf(origin)} answered ${status}`
  return new SvcError('refused', 'not_signed_in', safeLine(`Not signed in: ${why}`), {
    hint: 'Nothing was saved. Run the command again',
  })
}

/** Opens the address, if this machine has a screen, and prints it in any case. */
const show = (url: string, { io }: { io: Io }): void => {
  const opened = openInBrowser(url, io.env)
  const what = opened ? 'Sign in with the browser that opens now, or open' : 'To sign in, open'
  io.stderr.write(
    `${what} this address on this machine:\n\n  ${safeLine(url)}\n\nWaiting until you have signed in\n`,
  )
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
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
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
    return tokens.parse(JSON.parse(body))
  } finally {
    close()
  }
}

/** Ends a sign-in at the service: both keys of this installation (RFC 7009). */
export const signOut = async (origin: string, token: string, transport: Transport, io: Io): Promise<void> => {
  const { status, body } = await form(transport, `${origin}/revoke`, { client_id, token }, io.signal)
  if (status !== 200) throw refused(status, body, origin)
}
