import type { Dispatcher, Pool as PoolType } from 'undici'
import connect from 'undici/lib/api/api-connect.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'

type Tls = { timeout: number; ca?: string }

/** Sends everything through the proxy. Loaded only if the environment names a proxy. */
export const openProxyAgent = (uri: string, tls: Tls, options: PoolType.Options): Dispatcher =>
  new EnvHttpProxyAgent({
    ...options,
    connect: tls,
    requestTls: tls,
    proxyTls: { timeout: tls.timeout },
    // undici's index would give `connect` to every dispatcher; only the tunnel needs it.
    clientFactory: (url, settings) =>
      Object.assign(new Pool(url, { ...settings, headersTimeout: tls.timeout }), { connect }),
    httpProxy: uri,
    httpsProxy: uri,
    // NO_PROXY is already applied: only requests for the proxy reach this agent.
    noProxy: '',
  })
