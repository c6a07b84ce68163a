import type { Context } from 'hono'
import { isLoopbackAddress, isLoopbackName } from '../../core/loopback.ts'
import { socketOf } from '../http/guards.ts'

/** Headers that a proxy, a load balancer or a tunnel adds. A program that calls directly sends none of them. */
const ofProxies = [
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
  if (names.some((name) => ofProxies.some((start) => name.toLowerCase().startsWith(start)))) return false
  const host = context.req.header('host')
  return host !== undefined && isOwnName(host, localPort)
}
