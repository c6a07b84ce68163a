import type { Service } from '../../call/service.ts'
import type { EventCounts } from './event-counts.ts'
import { exposition, contentType, type Family, gauge } from './exposition.ts'
import { type Build, createStateReader } from './state.ts'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { sameSecret } from '../../../core/ids.ts'
import { isLoopbackHost, isLoopbackName } from '../../../core/loopback.ts'
import { cannotListen, expiryOf, hostInUrl, type Tls } from '../server.ts'

/** The name in a Host header. A page of a browser could reach the port by another name, but not by this one. */
const isThisMachine = (header: string | undefined): boolean =>
  header !== undefined &&
  URL.canParse(`http://${header}`) &&
  isLoopbackName(new URL(`http://${header}`).hostname)

type MetricsListener = { url: string; useTls(tls: Tls): void; stop(): Promise<void> }

type MetricsAddress = {
  port: number
  /** Loopback if left out. Any other needs the key. */
  host?: string | undefined
  /** What a request must have as its bearer. */
  key?: string | undefined
  /** Used on addresses that are not loopback. */
  tls?: Tls | undefined
}

/** Serves `/metrics` on a port of its own, on loopback also without a key. Throws an SvcError if it cannot listen. */
const listenForMetrics = async (
  { port, host = '127.0.0.1', key, tls }: MetricsAddress,
  read: () => Promise<string>,
): Promise<MetricsListener> => {
  // Scrapes that arrive together read once.
  let reading: Promise<string> | undefined
  const readOnce = (): Promise<string> =>
    (reading ??= read().finally(() => {
      reading = undefined
    }))
  const listener: RequestListener = (request, response) => {
    const end = (status: number, text: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': contentType, ...headers }).end(text)
    }
    if (key === undefined && !isThisMachine(request.headers.host))
      return end(403, 'The Host header must name this machine\n')
    const [, bearer = ''] = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (key !== undefined && !sameSecret(bearer, key))
      return end(401, 'Send SVC_METRICS_KEY as bearer\n', { 'www-authenticate': 'Bearer' })
    if (request.url?.split('?')[0] !== '/metrics') return end(404, 'Only /metrics is served here\n')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return end(405, 'Use GET\n', { allow: 'GET, HEAD' })
    readOnce().then(
      (text) => end(200, text),
      () => end(500, 'The metrics could not be read\n'),
    )
  }
  const limits = { headersTimeout: 5_000, requestTimeout: 5_000 }
  const secure = tls && !isLoopbackHost(host) ? createTlsServer({ ...limits, ...tls }, listener) : undefined
  const server = secure ?? createServer(limits, listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(host, port, error, '--metrics-port')))
    server.listen(port, host, resolve)
  })
  server.unref()
  return {
    url: `${secure ? 'https' : 'http'}://${hostInUrl(host)}:${(server.address() as AddressInfo).port}/metrics`,
    useTls: (renewed) => secure?.setSecureContext(renewed),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const certificateFamily = (tls: Tls | undefined): Family =>
  gauge(
    'svc_certificate_expires_seconds',
    'When the certificate of the service expires, in seconds since 1970.',
    tls ? expiryOf(tls) / 1000 : [],
  )

/** Serves what was counted and the state of the service to Prometheus. */
export const openMetrics = async (
  {
    build = { number: '-', commit: '' },
    dataDir,
    ...address
  }: MetricsAddress & { build?: Build | undefined; dataDir?: string | undefined },
  service: Pick<Service, 'storage' | 'signals' | 'node'>,
  counts: Pick<EventCounts, 'families'>,
): Promise<MetricsListener> => {
  const state = createStateReader({ ...service, dataDir }, build)
  let { tls } = address
  const read = async (): Promise<string> =>
    exposition([...counts.families(), certificateFamily(tls), ...(await state.families())])
  try {
    const { url, useTls, stop } = await listenForMetrics(address, read)
    return {
      url,
      useTls: (renewed) => {
        tls = renewed
        useTls(renewed)
      },
      stop: async () => {
        state.stop()
        await stop()
      },
    }
  } catch (error) {
    state.stop()
    throw error
  }
}
