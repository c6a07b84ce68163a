import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [base: Address, bits: number]

const unwrapped = (address: ipaddr.IPv6, bits: number): Network =>
  address.isIPv4MappedAddress() && bits >= 96 ? [address.toIPv4Address(), bits - 96] : [address, bits]

// Four decimal parts only: some parsers accept `10` and `0x0a.1` as addresses, others do not. A zone id names an interface
// of one machine, so an address with a zone id means nothing on another.
const read = (text: string): Network | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.IPv4.parse(text), 32]
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return ipaddr.IPv4.parseCIDR(text)
  // The library reads the deprecated `::192.0.2.1` as `::ffff:192.0.2.1`, which is another address.
  if (text.includes('%') || /^::\d+\./.test(text)) return undefined
  if (ipaddr.IPv6.isValid(text)) return unwrapped(ipaddr.IPv6.parse(text), 128)
  return ipaddr.IPv6.isValidCIDR(text) ? unwrapped(...ipaddr.IPv6.parseCIDR(text)) : undefined
}

/** A network (CIDR) or a single address; IPv4-mapped IPv6 is read as IPv4. Undefined for any other value. */
export const readNetwork = (text: unknown): Network | undefined =>
  typeof text === 'string' && text.length <= 64 ? read(text) : undefined

/** The canonical CIDR of a network or an address: `203.0.113.7/24` -> `203.0.113.0/24`. Undefined for any other text. */
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

/** Whose address it is, for limits: a site has as many IPv6 addresses as it likes (RFC 6177), so those of a /64 are one. */
export const siteOf = (address: string): string => {
  const parsed = readAddress(address)
  return parsed?.kind() === 'ipv6' ? normalizeNetwork(`${address}/64`)! : address
}

/** One address, never a network. */
export const readAddress = (text: unknown): Address | undefined =>
  typeof text === 'string' && !text.includes('/') ? readNetwork(text)?.[0] : undefined

export const contains = ([base, bits]: Network, address: Address): boolean =>
  base.kind() === address.kind() && address.match(base, bits)

/**
 * The canonical address of the client. `remote` is the peer of the socket. A hop of `X-Forwarded-For` counts only if a
 * proxy wrote it, and each entry of `proxies` stands for one proxy: a client in the network of a proxy cannot pose as a
 * second proxy and choose its own address. Returns the peer if every hop is a proxy, and undefined if a hop that counts is
 * not an address.
 */
export const clientAddress = (
  remote: string | undefined,
  forwardedFor: string | undefined,
  proxies: readonly Network[],
): string | undefined => {
  const hops = forwardedFor?.split(',') ?? []
  // The narrowest network first, so that a proxy does not use up a wider one.
  const unused = proxies.toSorted((a, b) => b[1] - a[1])
  const peer = readAddress(remote)
  let address = peer
  while (address && hops.length > 0) {
    const writer = address
    const proxy = unused.findIndex((network) => contains(network, writer))
    if (proxy === -1) break
    unused.splice(proxy, 1)
    address = readAddress(hops.pop()!.trim())
  }
  const isProxy = address && proxies.some((network) => contains(network, address))
  return (isProxy ? peer : address)?.toString()
}
