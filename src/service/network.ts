import ipaddr from 'ipaddr.js'

const unwrapped = (address: ipaddr.IPv6, bits: number): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
  address.isIPv4MappedAddress() && bits >= 96 ? [address.toIPv4Address(), bits - 96] : [address, bits]

const parse = (text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined => {
  // Four decimal parts only: `10` and `0x0a.1` are addresses to some readers and not to others.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.IPv4.parse(text), 32]
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return ipaddr.IPv4.parseCIDR(text)
  if (text.includes('%')) return undefined
  if (ipaddr.IPv6.isValid(text)) return unwrapped(ipaddr.IPv6.parse(text), 128)
  return ipaddr.IPv6.isValidCIDR(text) ? unwrapped(...ipaddr.IPv6.parseCIDR(text)) : undefined
}

/** One spelling of a network or an address, as CIDR: `203.0.113.7/24` -> `203.0.113.0/24`. Undefined when it is neither. */
export const normalizeNetwork = (text: string): string | undefined => {
  const parsed = parse(text)
  if (!parsed) return undefined
  const [address, bits] = parsed
  const cidr = `${address.toString()}/${bits}`
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr)
  return `${network.toString()}/${bits}`
}
