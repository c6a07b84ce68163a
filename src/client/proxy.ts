import type { Env } from '../core/env.ts'
import { isLoopbackName } from '../core/loopback.ts'

/** Whether NO_PROXY names a host: itself, a domain above it, either with its port, or everything as `*`. */
const isExempt = ({ hostname, port, protocol }: URL, noProxy: string): boolean => {
  if (noProxy === '*') return true
  const own = port || (protocol === 'https:' ? '443' : '80')
  return noProxy
    .toLowerCase()
    .split(/[,\s]/)
    .some((entry) => {
      const [, name = entry, only = own] = /^(.+):(\d+)$/.exec(entry) ?? []
      const domain = name.replace(/^\*?\./, '')
      return domain !== '' && only === own && (hostname === domain || hostname.endsWith(`.${domain}`))
    })
}

/**
 * The proxy that the environment sets for an origin. Lower-case names take precedence, as in curl. Loopback never uses a
 * proxy: a key that is sent in clear on this machine must not leave it.
 */
export const proxyFor = (origin: string, env: Env): string | undefined => {
  const url = new URL(origin)
  if (isLoopbackName(url.hostname)) return undefined
  const proxy =
    url.protocol === 'https:'
      ? (env['https_proxy'] ?? env['HTTPS_PROXY'])
      : (env['http_proxy'] ?? env['HTTP_PROXY'])
  if (!proxy || isExempt(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}
