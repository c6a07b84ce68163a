import ipaddr from 'ipaddr.js'
import { readNetwork } from '../rules/network.ts'

/** One spelling of a network or an address, as CIDR: `203.0.113.7/24` -> `203.0.113.0/24`. Undefined when it is neither. */
export const normalizeNetwork = (text: string): string | undefined => {
  const parsed = readNetwork(text)
  if (!parsed) return undefined
  const [address, bits] = parsed
  const cidr = `${address.toString()}/${bits}`
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr)
  return `${network.toString()}/${bits}`
}
