import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { invalid } from '../../core/refusal.ts'
import { isLoopbackHost } from '../../core/loopback.ts'

/** Whether the whole world reaches this address: the service is not sent into its own network. */
const isPublic = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'

/** A host of an address without the brackets of IPv6. */
const bare = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Refuses with 422 what is no push service of the open internet; with --dev this machine is one too. */
export const refuseTarget = (endpoint: string, dev: boolean): void => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (!url) throw invalid('endpoint', 'must be an address')
  if (dev && /^https?:$/.test(url.protocol) && isLoopbackHost(url.hostname)) return
  if (url.protocol !== 'https:' || url.username || url.password)
    throw invalid('endpoint', 'must be an https address without a name or password')
  if (isLoopbackHost(url.hostname) || (ipaddr.isValid(bare(url)) && !isPublic(bare(url))))
    throw invalid('endpoint', 'must be an address on the open internet')
}

/** Resolves a name, and fails when any of its addresses is not public: it is looked at where it is used. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const inside = addresses?.find(({ address }) => !isPublic(address))
    const failure = error ?? (inside && new Error('the name is that of a private network'))
    if (failure || !addresses[0]) return callback(failure ?? new Error('the name has no address'), '', 4)
    if (options.all) return callback(null, addresses)
    return callback(null, addresses[0].address, addresses[0].family)
  })
}
