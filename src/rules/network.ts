import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [base: Address, bits: number]

const unwrapped = (address: ipaddr.IPv6, bits: number): Network =>
  address.isIPv4MappedAddress() && bits >= 96 ? [address.toIPv4Address(), bits - 96] : [address, bits]

// Four decimal parts only: `10` and `0x0a.1` are addresses to some readers and not to others. A zone id names an
// interface of one machine, so an address with one is none to anybody else.
const read = (text: string): Network | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.IPv4.parse(text), 32]
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return ipaddr.IPv4.parseCIDR(text)
  // The library takes the deprecated `::192.0.2.1` for `::ffff:192.0.2.1`, which is another address.
  if (text.includes('%') || /^::\d+\./.test(text)) return undefined
  if (ipaddr.IPv6.isValid(text)) return unwrapped(ipaddr.IPv6.parse(text), 128)
  return ipaddr.IPv6.isValidCIDR(text) ? unwrapped(...ipaddr.IPv6.parseCIDR(text)) : undefined
}

/** A network (CIDR) or a single address; IPv4 within IPv6 is IPv4. Undefined when it is neither. */
export const readNetwork = (text: unknown): Network | undefined =>
  typeof text === 'string' && text.length <= 64 ? read(text) : undefined

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

/** One address, never a network. */
export const readAddress = (text: unknown): Address | undefined =>
  typeof text === 'string' && !text.includes('/') ? readNetwork(text)?.[0] : undefined

export const contains = ([base, bits]: Network, address: Address): boolean =>
  base.kind() === address.kind() && address.match(base, bits)

/**
 * The address of the client in one spelling. `remote` is the socket's peer; each hop of `X-Forwarded-For` is believed
 * only when the one that wrote it is a trusted proxy, so this is the right-most untrusted one. Undefined when a hop that
 * counts is no address: then nobody knows.
 */
export const clientAddress = (
  remote: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: readonly Network[],
): string | undefined => {
  const hops = forwardedFor?.split(',') ?? []
  let address = readAddress(remote)
  while (address && hops.length > 0) {
    const writer = address
    if (!trustedProxies.some((network) => contains(network, writer))) break
    address = readAddress(hops.pop()!.trim())
  }
  return address?.toString()
}
