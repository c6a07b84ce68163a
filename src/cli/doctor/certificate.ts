import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { Context } from '../context/context.ts'
import { interrupted } from '../../client/network-error.ts'
import { proxyFor } from '../../client/proxy.ts'
import { readCa } from '../context/open-client.ts'
import { fail, note, ok, warn, type Finding } from './finding.ts'

const limitMs = 5_000
const day = 24 * 60 * 60_000
const warnsDays = 14

/** When the certificate of a host lapses; fails as the handshake does. */
const lapses = (url: URL, ca: string | undefined, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const named = isIP(host) === 0 && { servername: host }
    const socket = connect({ host, port: Number(url.port || 443), ...named, ...(ca && { ca }) })
    const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), limitMs)
    const interrupt = (): void => void socket.destroy(interrupted())
    if (signal.aborted) interrupt()
    signal.addEventListener('abort', interrupt)
    socket.on('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupt)
    })
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to))
      socket.destroy()
    })
  })

/** The certificate of an https service: trusted here, and for how long yet. */
export const checkCertificate = async (context: Context): Promise<Finding> => {
  const { baseUrl, cacert } = await context.settings()
  const url = new URL(baseUrl.value)
  if (url.protocol !== 'https:') return note('tls', 'not used: plain http on this machine')
  if (proxyFor(url.origin, context.io.env)) return note('tls', 'not checked: a proxy is used')
  try {
    const left = Math.floor(
      ((await lapses(url, cacert && readCa(cacert.value), context.io.signal)) - context.io.now().getTime()) /
        day,
    )
    const message = `the certificate of ${url.host} is trusted and expires in ${left} days`
    return left < warnsDays ? warn('tls', message, 'renew it on the service') : ok('tls', message)
  } catch (error) {
    if (context.io.signal.aborted) throw interrupted()
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    return fail(
      'tls',
      `no trusted connection to ${url.host}: ${code}`,
      '--cacert FILE trusts a CA of your own',
    )
  }
}
