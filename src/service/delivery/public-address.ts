import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isLoopbackHost } from '../../core/loopback.ts'
import { invalid } from '../../core/refusal.ts'
import { contains, type Network, readAddress } from '../../factors/network.ts'

// An address that somebody else chose must not direct the service into its own network.

/** The only addresses of IPv6 that are assigned globally. Others, such as ::10.0.0.1, can lead to IPv4. */
const globalV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether an address is on the public internet. */
const isPublic = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const one = ipaddr.process(address)
  return one.range() === 'unicast' && (one instanceof ipaddr.IPv4 || one.match(globalV6))
}

/** Private networks that the operator lists: only webhooks reach them. */
export type Networks = readonly Network[]

const isReachable = (text: string, networks: Networks): boolean => {
  if (isPublic(text)) return true
  const address = readAddress(text)
  return address !== undefined && networks.some((network) => contains(network, address))
}

/** Whether a development service may send to this machine. */
export const isOwnMachine = (url: URL, dev: boolean): boolean =>
  dev && /^https?:$/.test(url.protocol) && isLoopbackHost(url.hostname)

const listHint = 'The operator can list a private network: svc serve --webhook-network 10.20.0.0/16'

/**
 * Refuses with 422 a URL in `field` that is neither on the public internet nor in a listed network. With --dev, this machine
 * is allowed too.
 */
export const checkPublicUrl = (field: string, text: string, dev: boolean, networks?: Networks): void => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url) throw invalid(field, 'must be a URL')
  const isOwn = isOwnMachine(url, dev)
  if ((!isOwn && url.protocol !== 'https:') || url.username || url.password)
    throw invalid(field, 'must be an https URL without a user name or password')
  if (isOwn) return
  // Without the brackets of IPv6.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (ipaddr.isValid(host) ? !isReachable(host, networks ?? []) : isLoopbackHost(host))
    throw invalid(field, 'must be a URL on the public internet', networks && listHint)
}

/**
 * Resolves a host name, and fails if any of its addresses is neither public nor in a listed network. The connection uses the
 * address it checked.
 */
export const publicLookup =
  (networks: Networks = [], resolve = lookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const unsafe = addresses?.find(({ address }) => !isReachable(address, networks))
      const failure =
        error ??
        (unsafe && Object.assign(new Error('the host is in a private network'), { code: 'private_address' }))
      if (failure || !addresses[0]) return callback(failure ?? new Error('the host has no address'), '', 4)
      if (options.all) return callback(null, addresses)
      return callback(null, addresses[0].address, addresses[0].family)
    })
  }
