// Loopback addresses may use plain http, and skip the proxy or the bearer. Each function fails closed: text in any form other
// than those below is another machine.

const ipv4 = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/
const ipv6 = /^(?:\[[\da-f:.]{2,45}\]|[\da-f:.]{2,45})$/i
/** As the URL parser writes `::1` and the IPv4-mapped addresses of 127.0.0.0/8. */
const canonical = /^\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\]$/

/**
 * An IP address of this machine: 127.0.0.0/8 in four decimal parts, `::1`, or 127.0.0.0/8 mapped into IPv6. IPv6 is accepted
 * in any spelling, with or without brackets, as sockets, URLs and people write it.
 */
export const isLoopbackAddress = (text: string): boolean => {
  if (ipv4.test(text)) return true
  if (!ipv6.test(text)) return false
  const url = `http://${text.startsWith('[') ? text : `[${text}]`}`
  return URL.canParse(url) && canonical.test(new URL(url).hostname)
}

/**
 * A host to connect to or to listen on: a loopback address, or `localhost`. Traffic to it does not leave this machine.
 * `*.localhost` is excluded: a resolver could ask the network for it.
 */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host)

/**
 * A name by which a program on this machine can reach it: a loopback host, or `*.localhost`, which browsers resolve
 * themselves. Valid as the Host of a request that has arrived; not a reason to send anything in clear.
 */
export const isLoopbackName = (host: string): boolean => isLoopbackHost(host) || /.\.localhost$/.test(host)
