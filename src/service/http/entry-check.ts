import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'
import { isLoopbackName } from '../../core/loopback.ts'
import { Refusal } from '../../core/refusal.ts'
import { clientAddress, contains, type Network, readAddress, readNetwork } from '../../factors/network.ts'
import { siteAt } from '../devices/site.ts'

type Socket = { remoteAddress?: string; localPort?: number }

/** The connection of a request; undefined in a process without a server. */
export const socketOf = (context: Context): Socket | undefined =>
  (context.env as { incoming?: { socket: Socket } } | undefined)?.incoming?.socket

export type EntryOptions = {
  /** Bound to loopback: accept only loopback names and the public name, against DNS rebinding. */
  loopbackOnly: boolean
  /** As configured; undefined if it is not set. */
  publicUrl: string | undefined
  /** One address or network (CIDR) for each proxy in front. Only their X-Forwarded-* headers are trusted. */
  trustedProxy: readonly string[]
}

/** Reads the address of a client: of the connection, or as a trusted proxy reports it. */
export const createAddressReader = ({ trustedProxy }: Pick<EntryOptions, 'trustedProxy'>) => {
  const proxies = trustedProxy.map(readNetwork).filter((one) => one !== undefined)
  // Without a proxy, a connection has one address, and reading it costs more than the rest of a log line.
  const known = new WeakMap<Socket, string | undefined>()
  return (context: Context): string | undefined => {
    const socket = socketOf(context)
    if (!socket || proxies.length > 0)
      return clientAddress(socket?.remoteAddress, context.req.header('x-forwarded-for'), proxies)
    if (!known.has(socket)) known.set(socket, clientAddress(socket.remoteAddress, undefined, proxies))
    return known.get(socket)
  }
}

const proxyOf = (text: string): Network => {
  const network = readNetwork(text)
  if (network) return network
  throw usageError(
    `--trusted-proxy is not an IP address or a network: "${text}"`,
    'Use the address of the proxy: svc serve --trusted-proxy 127.0.0.1',
  )
}

/** Checks a request before anything in it is trusted. Throws a Refusal, or returns the origin and maybe a redirect. */
export const createEntryCheck = ({ loopbackOnly, publicUrl, trustedProxy }: EntryOptions) => {
  const publicAddress = publicUrl === undefined ? undefined : new URL(publicUrl)
  const proxies = trustedProxy.map(proxyOf)

  const isTrusted = (peer: string | undefined): boolean => {
    const address = proxies.length === 0 ? undefined : readAddress(peer)
    return address !== undefined && proxies.some((network) => contains(network, address))
  }

  const refuseHost = (host: string): void => {
    if (!loopbackOnly) return
    const name = host.replace(/:\d{1,5}$/, '').toLowerCase()
    if (isLoopbackName(name) || name === publicAddress?.hostname) return
    throw new Refusal(403, 'wrong_host', 'This service does not respond to that host name', {
      hint: 'Use its loopback address, or start it with --public-url',
    })
  }

  const refuseOrigin = (origin: string | undefined, host: string): void => {
    if (origin === undefined || origin === publicAddress?.origin) return
    if (origin === `http://${host}` || origin === `https://${host}`) return
    throw new Refusal(403, 'foreign_origin', 'Pages of another origin cannot call this service')
  }

  return (context: Context, isForAnyOrigin = false): { redirect?: string; origin: string } => {
    const { url } = context.req
    const viaProxy = isTrusted(socketOf(context)?.remoteAddress)
    if (viaProxy && publicAddress?.protocol === 'https:') {
      // The last value is the one that our own proxy wrote.
      const scheme = context.req.header('x-forwarded-proto')?.split(',').at(-1)?.trim()
      if (scheme === 'http') {
        const { pathname, search } = new URL(url)
        return { redirect: publicAddress.origin + pathname + search, origin: publicAddress.origin }
      }
    }
    const host = context.req.header('host') ?? new URL(url).host
    refuseHost(host)
    if (!isForAnyOrigin) refuseOrigin(context.req.header('origin'), host)
    const origin = viaProxy && publicAddress ? publicAddress.origin : url.slice(0, url.indexOf('/', 8))
    return { origin }
  }
}

/** Operations that change something and that only the approver page calls. */
export const isOfPage = ({ path, method }: Operation): boolean =>
  path.startsWith('/svc/v1/approver/') && method !== 'GET'

/**
 * Accepts only pages of the site itself: a browser sends its origin with each POST and DELETE, so a request without one does
 * not come from a page. The entry check has already refused foreign origins.
 */
export const requirePageOrigin = (context: Context, publicUrl: string): void => {
  const origin = context.req.header('origin')
  if (origin !== undefined && origin === siteAt(publicUrl)?.origin) return
  if (context.req.header('sec-fetch-site') === 'same-origin') return
  throw new Refusal(403, 'foreign_origin', 'Only the approver page of this service can call this', {
    hint: `Open ${siteAt(publicUrl)?.origin ?? publicUrl}/approver`,
  })
}
