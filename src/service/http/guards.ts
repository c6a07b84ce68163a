import type { Context } from 'hono'
import { usageError } from '../../core/errors.ts'
import { isLoopbackName } from '../../core/loopback.ts'
import { contains, readAddress, readNetwork, type Network } from '../../rules/network.ts'
import { Refusal } from '../../core/refusal.ts'
import { socketOf } from './peer.ts'

export type GuardOptions = {
  /** Bound to loopback: only loopback names and the public name are answered, against DNS rebinding. */
  loopbackOnly: boolean
  /** As configured; undefined when nobody said it. */
  publicUrl: string | undefined
  /** One address or network (CIDR) for each proxy in front. Only their X-Forwarded-* headers are trusted. */
  trustedProxy: readonly string[]
}

const proxyOf = (text: string): Network => {
  const network = readNetwork(text)
  if (network) return network
  throw usageError(
    `--trusted-proxy is not an IP address or a network: "${text}"`,
    'Name the address of the proxy: svc serve --trusted-proxy 127.0.0.1',
  )
}

/** Decides before anything of a request is believed. Throws a Refusal, or answers with a redirect or nothing. */
export const createGuards = ({ loopbackOnly, publicUrl, trustedProxy }: GuardOptions) => {
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
    throw new Refusal(403, 'wrong_host', 'This service does not answer under that host name', {
      hint: 'Use its loopback address, or start it with --public-url',
    })
  }

  const refuseOrigin = (origin: string | undefined, host: string): void => {
    if (origin === undefined || origin === publicAddress?.origin) return
    if (origin === `http://${host}` || origin === `https://${host}`) return
    throw new Refusal(403, 'foreign_origin', 'Pages of another origin may not call this service')
  }

  return (context: Context): { redirect?: string; origin: string } => {
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
    refuseOrigin(context.req.header('origin'), host)
    const origin = viaProxy && publicAddress ? publicAddress.origin : url.slice(0, url.indexOf('/', 8))
    return { origin }
  }
}
