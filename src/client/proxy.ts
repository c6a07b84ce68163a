import type { Env } from '../core/env.ts'
import { isLoopbackName } from '../core/loopback.ts'

export type ProxySettings = { uri: string; noProxy: string }

/**
 * The proxy that the environment names for an origin. Lower-case names come first, as in curl. Loopback never goes
 * through a proxy: a key that may travel in clear on this machine must not leave it.
 */
export const proxyFor = (origin: string, env: Env): ProxySettings | undefined => {
  const { protocol, hostname } = new URL(origin)
  if (isLoopbackName(hostname)) return undefined
  const uri =
    protocol === 'https:'
      ? (env['https_proxy'] ?? env['HTTPS_PROXY'])
      : (env['http_proxy'] ?? env['HTTP_PROXY'])
  if (!uri) return undefined
  return {
    uri: uri.includes('://') ? uri : `http://${uri}`,
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
  }
}
