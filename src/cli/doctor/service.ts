import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { shellQuote } from '../../core/shell-quote.ts'
import { org } from '../../contract/org.ts'
import { SvcError } from '../../core/errors.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Answer } from '../../client/client.ts'
import { rowsIn } from '../../client/answered.ts'
import { audit } from '../../contract/audit.ts'
import type { Data } from '../../contract/operation.ts'
import { outbox } from '../../contract/outbox.ts'
import { interrupted } from '../../client/network-error.ts'
import { proxyFor } from '../../client/proxy.ts'
import type { Context } from '../context/context.ts'
import { pathHint } from '../context/address.ts'
import { isUnsaid } from '../context/own-key.ts'
import type { Settings } from '../context/settings.ts'
import { readCa } from '../context/open-client.ts'
import { fail, failed, note, ok, warn, type Finding } from './finding.ts'

/** Results of a verification count within 5 minutes of the clock of the service. */
const clockFailsMs = 5 * 60_000
const clockWarnsMs = 10_000

export const checkAddress = ({ baseUrl, profile }: Settings): Finding => {
  const url = new URL(baseUrl.value)
  const from = `${baseUrl.value} (${baseUrl.source}; profile ${profile.value})`
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return fail(
      'address',
      `${from} is plain http, so no key is sent`,
      `--base-url https://${url.host}${url.pathname}`,
    )
  const hint = pathHint(baseUrl.value)
  return hint ? warn('address', `${from} has no path`, hint) : ok('address', from)
}

export const checkKey = async ({ apiKey, baseUrl, profile }: Settings): Promise<Finding> => {
  const login = `svc profile login ${shellQuote(profile.value)}`
  try {
    if ((await apiKey(baseUrl.value)) === undefined)
      return fail('key', 'no API key', `${login}, or SVC_API_KEY`)
    return ok('key', 'a key for this address is configured')
  } catch (error) {
    return failed('key', error, login)
  }
}

const clock = (date: string | undefined, now: number): Finding => {
  const told = Date.parse(date ?? '')
  if (Number.isNaN(told)) return note('clock', 'the service does not report its time')
  // The header has whole seconds.
  const skew = now - told
  const seconds = Math.round(Math.abs(skew) / 1000)
  const message = `this machine is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service`
  const next = 'set the clock: timedatectl set-ntp true'
  if (Math.abs(skew) > clockFailsMs) return fail('clock', message, next)
  return Math.abs(skew) > clockWarnsMs
    ? warn('clock', message, next)
    : ok('clock', `within ${seconds} s of the service`)
}

/** Whether the REST API answers, and to this key; with it the clock. */
export const checkService = async (context: Context): Promise<Finding[]> => {
  const { io } = context
  const client = await context.client()
  const started = performance.now()
  let answer: Answer | undefined
  try {
    answer = await client.call(org.listOrganizations, { limit: 1 }, { signal: io.signal })
  } catch (error) {
    // It takes the key, which cannot read.
    if (!(error instanceof SvcError) || error.code !== 'scope_missing') return [failed('service', error)]
  }
  const ms = Math.round(performance.now() - started)
  if (!answer) return [ok('service', `accepts this key, which cannot read, and answers in ${ms} ms`)]
  return [ok('service', `accepts this key and answers in ${ms} ms`), clock(answer.date, io.now().getTime())]
}

const named = 3

/** Whether another program has changed devices or keys in the store; only our own service can report it. */
export const checkStore = async (context: Context): Promise<Finding> => {
  const client = await context.client()
  try {
    const answer = await client.call(audit.listAlteredRows, {}, { signal: context.io.signal })
    const rows = rowsIn(audit.listAlteredRows, answer)
    if (rows.length === 0) return ok('store', 'no other program has changed devices, keys or users')
    const some = rows.slice(0, named).map(({ kind, id }) => `${String(kind).replace('_', ' ')} ${String(id)}`)
    const more = rows.length > named ? ` and ${rows.length - named} more` : ''
    return fail(
      'store',
      `another program has changed ${some.join(', ')}${more}, which the service does not use`,
      'svc audit altered lists them; revoke them or restore a backup',
    )
  } catch (error) {
    if (isUnsaid(error)) return note('store', 'this service does not report it')
    if (error instanceof SvcError && error.code === 'scope_missing')
      return note('store', 'this key cannot read whether another program has changed the store')
    return failed('store', error)
  }
}

type Channel = Data<typeof outbox.listChannels>[number]

const isTold = ({ channel, ready }: Channel): boolean =>
  typeof channel === 'string' && typeof ready === 'boolean'

const about = ({ channel: name, ready, waiting, given_up }: Channel): Finding => {
  if (!ready)
    return note(
      'delivery',
      `${name} is not set up`,
      'svc help configuration > svc.yaml, then svc serve --config svc.yaml',
    )
  if (Number(waiting) > 0 || Number(given_up) > 0)
    return warn(
      'delivery',
      `${name}: ${Number(waiting)} waiting for another attempt, ${Number(given_up)} failed within a day`,
      `svc notify outbox list --channel ${shellQuote(name)} --state ${Number(given_up) > 0 ? 'dead' : 'queued'}`,
    )
  return ok('delivery', `${name} is set up, and no message is waiting`)
}

const unsaid = note('delivery', 'this service does not report it')

/** Whether messages go out; only our own service tells. */
export const checkDelivery = async (context: Context): Promise<Finding[]> => {
  const client = await context.client()
  try {
    const answer = await client.call(outbox.listChannels, {}, { signal: context.io.signal })
    const rows = rowsIn(outbox.listChannels, answer)
    return rows.every(isTold) ? rows.map(about) : [unsaid]
  } catch (error) {
    if (isUnsaid(error)) return [unsaid]
    if (error instanceof SvcError && error.code === 'scope_missing')
      return [note('delivery', 'not shown: this key lacks the scopes "read" and "notify"')]
    return [failed('delivery', error)]
  }
}

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
