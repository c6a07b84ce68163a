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

/** The narrower name of a proxy first, so that it does not use up a wider one. */
const narrowestFirst = (networks: readonly Network[]): Network[] => [...networks].sort((a, b) => b[1] - a[1])

const isAmong = (networks: readonly Network[], address: Address): boolean =>
  networks.some((network) => contains(network, address))

/**
 * The address of the client in one spelling. `remote` is the socket's peer. A hop of `X-Forwarded-For` counts only when a
 * proxy wrote it, and each entry of `proxies` stands for one proxy: a client whose address lies in the network of a proxy
 * cannot pass for a second one and choose its own address. It is the peer where every hop is a proxy, and undefined when
 * a hop that counts is not an address.
 */
export const clientAddress = (
  remote: string | undefined,
  forwardedFor: string | undefined,
  proxies: readonly Network[],
): string | undefined => {
  const hops = forwardedFor?.split(',') ?? []
  const unused = narrowestFirst(proxies)
  const peer = readAddress(remote)
  let address = peer
  while (address && hops.length > 0) {
    const writer = address
    const proxy = unused.findIndex((network) => contains(network, writer))
    if (proxy === -1) break
    unused.splice(proxy, 1)
    address = readAddress(hops.pop()!.trim())
  }
  return (address && isAmong(proxies, address) ? peer : address)?.toString()
}
