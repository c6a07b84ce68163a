import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopbackName } from '../../../core/loopback.ts'
import type { Service } from '../../call/service.ts'
import { cannotListen } from '../server.ts'
import type { EventCounts } from './event-counts.ts'
import { contentType, exposition } from './exposition.ts'
import { createStateReader } from './state.ts'

const host = '127.0.0.1'

/** The name in a Host header. A page of a browser could reach the port by another name, but not by this one. */
const isThisMachine = (header: string | undefined): boolean =>
  header !== undefined &&
  URL.canParse(`http://${header}`) &&
  isLoopbackName(new URL(`http://${header}`).hostname)

type MetricsListener = { url: string; stop(): Promise<void> }

/** Serves `/metrics` on a loopback port of its own, so that it needs no key. Throws an SvcError if it cannot listen. */
const listenForMetrics = async (port: number, read: () => Promise<string>): Promise<MetricsListener> => {
  // Scrapes that arrive together read once.
  let reading: Promise<string> | undefined
  const readOnce = (): Promise<string> =>
    (reading ??= read().finally(() => {
      reading = undefined
    }))
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    const end = (status: number, text: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': contentType, ...headers }).end(text)
    }
    if (!isThisMachine(request.headers.host)) return end(403, 'The Host header must name this machine\n')
    if (request.url?.split('?')[0] !== '/metrics') return end(404, 'Only /metrics is served here\n')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return end(405, 'Use GET\n', { allow: 'GET, HEAD' })
    readOnce().then(
      (text) => end(200, text),
      () => end(500, 'The metrics could not be read\n'),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(`${host}:${port}`, error, '--metrics-port')))
    server.listen(port, host, resolve)
  })
  server.unref()
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Serves what was counted and the state of the service to Prometheus. */
export const openMetrics = async (
  {
    port,
    version = '-',
    dataDir,
  }: { port: number; version?: string | undefined; dataDir?: string | undefined },
  service: Pick<Service, 'storage' | 'signals' | 'node'>,
  counts: Pick<EventCounts, 'families'>,
): Promise<MetricsListener> => {
  const state = createStateReader({ ...service, dataDir }, version)
  const read = async (): Promise<string> => exposition([...counts.families(), ...(await state.families())])
  try {
    const { url, stop } = await listenForMetrics(port, read)
    return {
      url,
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
