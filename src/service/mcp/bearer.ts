import type { Context } from 'hono'
import { sameSecret } from '../../core/ids.ts'
import { isLoopbackAddress, isLoopbackName } from '../../core/loopback.ts'
import { Refusal } from '../../core/refusal.ts'
import { type Caller, isOperator, localProgram } from '../call/caller.ts'
import { socketOf } from '../http/entry-check.ts'
import type { Authenticate } from '../keys/authenticator.ts'
import { scopeMissing } from '../keys/scopes.ts'

/**
 * Identifies the caller by an `Authorization` header: the token of the tool server (MCP_AUTH_TOKEN), or a key with the
 * scope `ask`. Undefined for any other header; throws a Refusal for a key that is not allowed here.
 */
export const createBearer =
  (authenticate: Authenticate, token: string | undefined, audience: string | undefined) =>
  async (header: string): Promise<Caller | undefined> => {
    const credential = /^bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1]
    if (credential === undefined) return undefined
    if (token !== undefined && sameSecret(credential, token)) return bearerCaller
    const caller = await authenticate(credential, audience)
    if (!caller) return undefined
    // An operator key decides who approves, so it must not be handed to agents.
    if (isOperator(caller))
      throw new Refusal(403, 'operator_key', 'An operator key cannot be used as a bearer token', {
        hint: 'Use a key that can only ask: svc key create --can ask',
      })
    if (!caller.scopes.has('ask')) throw scopeMissing(caller, 'ask')
    return caller
  }

/** A caller with MCP_AUTH_TOKEN, which is not a key of the store. It can request approvals in every organization. */
export const bearerCaller: Caller = {
  keyId: 0,
  name: 'tool server token',
  orgId: null,
  scopes: new Set(['ask']),
}

/** A program on this machine, if no bearer token is required. */
export const localCaller: Caller = { ...bearerCaller, name: localProgram }

/** Headers that a proxy, a load balancer or a tunnel adds. A program that calls directly sends none of them. */
const proxyHeaders = [
  'forwarded',
  'via',
  'x-forward',
  'x-real-',
  'x-original-',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-',
  'x-amzn-',
  'x-azure-',
  'x-arr-',
  'x-nginx-',
  'client-ip',
  'true-client-ip',
  'fastly-',
  'fly-',
  'cf-',
  'cdn-',
  'proxy-',
  'ngrok-',
  'tailscale-',
]

/** A program that calls directly names the port that it is connected to. */
const isOwnName = (host: string, port: number | undefined): boolean => {
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined
  if (url === undefined || !isLoopbackName(url.hostname)) return false
  return url.port === '' ? port === 80 || port === 443 : url.port === String(port)
}

/**
 * Whether a program on this machine sent the request itself: from a loopback address, to a loopback name with the port of
 * this server, and without a header that a proxy adds. A forward from another port, a proxy that keeps the Host and a
 * tunnel are not direct.
 */
export const isDirectLocalCall = (context: Context): boolean => {
  const { remoteAddress, localPort } = socketOf(context) ?? {}
  if (remoteAddress === undefined || !isLoopbackAddress(remoteAddress)) return false
  const names = Object.keys(context.req.header())
  if (names.some((name) => proxyHeaders.some((start) => name.toLowerCase().startsWith(start)))) return false
  const host = context.req.header('host')
  return host !== undefined && isOwnName(host, localPort)
}
