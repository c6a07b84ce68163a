import { isLoopbackHost } from '../../../core/loopback.ts'

/** Schemes of applications that are registered without a dot, against RFC 8252, section 7.1. */
const editors = new Set(['cursor:', 'vscode:', 'vscode-insiders:'])
const longest = 500

/** Printable ASCII without the characters that a URL parser drops or rewrites. */
const exact = /^[!#-;=?-[\]_a-z~]+$/

/**
 * Why an address cannot receive authorization codes; undefined if it can: https, http on this machine, or the scheme of an
 * application.
 */
export const redirectProblem = (text: string): string | undefined => {
  if (text.length > longest) return `must have at most ${longest} characters`
  if (!exact.test(text) || !URL.canParse(text)) return 'must be an absolute URL'
  const { protocol, hostname, username, password } = new URL(text)
  if (text.includes('#')) return 'must not contain a fragment'
  if (username || password) return 'must not contain a user name or password'
  if (protocol === 'https:') return undefined
  if (protocol === 'http:') return isLoopbackHost(hostname) ? undefined : 'must use https'
  if (editors.has(protocol) || /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:$/.test(protocol)) return undefined
  return 'must be https, http on this machine, or the reverse-domain scheme of an application'
}

/** Whether an address is on the machine of the person. */
export const isLoopbackUri = (text: string): boolean => {
  const { protocol, hostname } = new URL(text)
  return protocol === 'http:' && isLoopbackHost(hostname)
}

/** The address with the port replaced, if it is on this machine: applications there take a free port (RFC 8252, 7.3). */
const withoutPort = (text: string): string => {
  if (!isLoopbackUri(text)) return text
  const url = new URL(text)
  url.port = ''
  return url.href
}

/** Whether an address is one of the registered ones: exactly, except for the port of a loopback address. */
export const isRegistered = (registered: readonly string[], asked: string): boolean =>
  redirectProblem(asked) === undefined &&
  registered.some((one) => one === asked || (isLoopbackUri(one) && withoutPort(one) === withoutPort(asked)))
