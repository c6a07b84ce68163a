import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Env } from '../../core/env.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import { contains, type Network, readNetwork } from '../../factors/network.ts'
import { readSettings } from '../config/settings.ts'
import type { Build } from '../http/metrics/state.ts'
import { expiryOf, type Tls } from '../http/server.ts'
import type { StorePlace } from './place.ts'

export type ServeOptions = StorePlace & {
  /** A file in YAML, with what is not an address or a place. */
  config?: string | undefined
  /** 8080 if left out; 0 takes a free one. */
  port?: number
  /** 127.0.0.1 if left out. */
  host?: string
  /** The address of the service for people and clients: scheme, host and port. */
  publicUrl?: string | undefined
  /** Files in PEM. */
  tlsCert?: string | undefined
  tlsKey?: string | undefined
  /** One address or network (CIDR) for each proxy in front. */
  trustedProxy?: readonly string[] | undefined
  /** Private networks (CIDR) that webhooks may reach. */
  webhookNetwork?: readonly string[] | undefined
  /** For developers: messages are logged instead of delivered. */
  dev?: boolean | undefined
  /** Serves Prometheus metrics on this port; 0 takes a free one. */
  metricsPort?: number | undefined
  /** 127.0.0.1 if left out. */
  metricsHost?: string | undefined
  /** How long it reports that it stops before it does, milliseconds. */
  drainMs?: number | undefined
  /** Of svc, with its commit. */
  version?: string | undefined
  /** The parts of `version`. */
  build?: Build | undefined
  env: Env
  log: Log
}

/** Throws a usage error for an address that others could reach without a secret. */
const checkHost = ({ host = '127.0.0.1', dev, env }: ServeOptions): string => {
  if (isLoopbackHost(host)) return host
  if (dev) throw usageError(`--dev binds loopback only, not ${host}`, 'Remove --host or --dev')
  if (!env.MCP_AUTH_TOKEN)
    throw usageError(
      `Without MCP_AUTH_TOKEN the service binds loopback only, not ${host}`,
      'Set MCP_AUTH_TOKEN to a secret of 32 characters or more, for example from: openssl rand -hex 32',
    )
  return host
}

const checkPublicUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
  if (plain && /^https?:$/.test(url.protocol)) return url.origin
  throw usageError(
    `--public-url ${text} is not a valid address of a service`,
    'Use only scheme, host and port: --public-url https://svc.example.com',
  )
}

/** The networks for private use. Not this machine, and not the addresses of one link, where clouds serve credentials. */
const privateUse = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'].map(
  (text) => readNetwork(text)!,
)

const readWebhookNetworks = ({ webhookNetwork = [] }: ServeOptions): Network[] =>
  webhookNetwork.map((text) => {
    const network = readNetwork(text)
    if (network && privateUse.some((one) => contains(one, network[0]) && network[1] >= one[1])) return network
    throw usageError(
      `--webhook-network is not a private network: "${text}"`,
      'Use a network inside of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7: svc serve --webhook-network 10.20.0.0/16',
    )
  })

const readPem = (file: string, flag: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new SvcError('usage', 'tls_unreadable', `${flag} ${file} cannot be read`, {
      detail: (error as Error).message,
      hint: 'Use a PEM file that this user can read',
      cause: error,
    })
  }
}

export const readTls = ({ tlsCert, tlsKey }: ServeOptions): Tls | undefined => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError(
      '--tls-cert and --tls-key must be used together',
      'svc serve --tls-cert cert.pem --tls-key key.pem',
    )
  const tls = { cert: readPem(tlsCert, '--tls-cert'), key: readPem(tlsKey, '--tls-key') }
  try {
    createSecureContext(tls)
    return tls
  } catch (error) {
    throw new SvcError(
      'usage',
      'tls_unusable',
      `${tlsCert} and ${tlsKey} are not a certificate and its private key`,
      {
        detail: (error as Error).message,
        hint: 'Both files must be PEM, and the key must belong to the certificate',
        cause: error,
      },
    )
  }
}

/** Warns of a certificate that clients refuse now, because it has expired. */
export const warnOfExpiry = (
  tls: Tls | undefined,
  report: (message: string, level: 'warn') => void,
): void => {
  const expiry = tls ? expiryOf(tls) : Number.POSITIVE_INFINITY
  if (expiry <= Date.now())
    report(
      `The certificate expired at ${new Date(expiry).toISOString()}: clients refuse the connection`,
      'warn',
    )
}

/** Undefined without metrics. Throws a usage error for an address that others could read without a key. */
const checkMetrics = ({ metricsPort: port, metricsHost: host, env }: ServeOptions) => {
  const key = env.SVC_METRICS_KEY || undefined
  if (port === undefined && host !== undefined)
    throw usageError('--metrics-host requires --metrics-port', 'svc serve --metrics-port 9464')
  if (key === undefined ? host !== undefined && !isLoopbackHost(host) : key.length < 32)
    throw usageError(
      key === undefined
        ? `Without SVC_METRICS_KEY the metrics are on loopback only, not ${host}`
        : 'SVC_METRICS_KEY is too short',
      'Set SVC_METRICS_KEY to a secret of 32 characters or more, for example from: openssl rand -hex 32',
    )
  return port === undefined ? undefined : { port, host, key }
}

/** Everything in the flags, the variables and the files that they name. Throws a usage error. */
export const readOptions = (options: ServeOptions) => ({
  host: checkHost(options),
  publicUrl: checkPublicUrl(options.publicUrl),
  tls: readTls(options),
  webhookNetworks: readWebhookNetworks(options),
  settings: readSettings(options.config, options.env),
  metricsAddress: checkMetrics(options),
})
