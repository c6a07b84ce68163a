import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { dayMs } from '../../core/iso-time.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { org } from '../../contract/org.ts'
import { interrupted, SvcError } from '../../core/errors.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Answer } from '../../client/client.ts'
import { rowsIn } from '../../client/answer-data.ts'
import { audit } from '../../contract/audit.ts'
import type { Data } from '../../contract/operation.ts'
import { outbox } from '../../contract/outbox.ts'
import { proxyFor } from '../../client/proxy.ts'
import type { Context } from '../context/context.ts'
import { pathHint } from '../../client/address.ts'
import type { Settings } from '../context/settings.ts'
import { readCa } from '../context/open-client.ts'
import { about, fail, failed, note, ok, tryCheck, warn, type Finding } from './finding.ts'

/** The service accepts results of a verification within 5 minutes of its clock. */
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
  const serviceTime = Date.parse(date ?? '')
  if (Number.isNaN(serviceTime)) return note('clock', 'the service does not report its time')
  const skew = now - serviceTime
  const seconds = Math.round(Math.abs(skew) / 1000)
  const message = `this machine is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service`
  const next = 'set the clock: timedatectl set-ntp true'
  if (Math.abs(skew) > clockFailsMs) return fail('clock', message, next)
  return Math.abs(skew) > clockWarnsMs
    ? warn('clock', message, next)
    : ok('clock', `within ${seconds} s of the service`)
}

/** Whether the REST API accepts this key, and the clock of the service. */
export const checkService = async (context: Context): Promise<Finding[]> => {
  const { io } = context
  const client = await context.client()
  const started = performance.now()
  let answer: Answer | undefined
  try {
    answer = await client.call(org.listOrganizations, { limit: 1 }, { signal: io.signal })
  } catch (error) {
    // The service accepts the key, but the key cannot read.
    if (!(error instanceof SvcError) || error.code !== 'scope_missing') return [failed('service', error)]
  }
  const ms = Math.round(performance.now() - started)
  if (!answer) return [ok('service', `accepts this key, which cannot read, and answers in ${ms} ms`)]
  const { data } = answer.envelope
  const isNew = Array.isArray(data) && data.length === 0
  return [
    ok('service', `accepts this key and answers in ${ms} ms`),
    clock(answer.date, io.now().getTime()),
    ...(isNew ? [note('service', 'it has no organization yet', 'svc org create --name "Acme Corp"')] : []),
  ]
}

const mostNamed = 3

/** Whether another program has changed the store, if the service reports it. */
export const checkStore = (context: Context): Promise<Finding[]> =>
  tryCheck(
    'store',
    {
      unsupported: [note('store', 'this service does not report it')],
      scopeMissing: 'this key cannot read whether another program has changed the store',
    },
    async () => {
      const client = await context.client()
      const answer = await client.call(audit.listAlteredRows, {}, { signal: context.io.signal })
      const rows = rowsIn(audit.listAlteredRows, answer)
      if (rows.length === 0) return [ok('store', 'no other program has changed devices, keys or users')]
      const named = rows.slice(0, mostNamed)
      const some = named.map(({ kind, id }) => `${String(kind).replace('_', ' ')} ${String(id)}`)
      const more = rows.length > mostNamed ? ` and ${rows.length - mostNamed} more` : ''
      return [
        fail(
          'store',
          `another program has changed ${some.join(', ')}${more}, which the service does not use`,
          'svc audit altered lists them; revoke them or restore a backup',
        ),
      ]
    },
  )

type Channel = Data<typeof outbox.listChannels>[number]

const isComplete = ({ channel, ready }: Channel): boolean =>
  typeof channel === 'string' && typeof ready === 'boolean'

const delivery = about('delivery')

const checkChannel = ({ channel: name, ready, only_logged, waiting, given_up }: Channel): Finding => {
  if (only_logged === true)
    return delivery.note(`${name} is not set up: with --dev, its messages only go to the log of the service`)
  if (!ready)
    return delivery.note(
      `${name} is not set up`,
      'svc help configuration > svc.yaml, then svc serve --config svc.yaml',
    )
  if (Number(waiting) > 0 || Number(given_up) > 0)
    return delivery.warn(
      `${name}: ${Number(waiting)} waiting for another attempt, ${Number(given_up)} failed within a day`,
      `svc notify outbox list --channel ${shellQuote(name)} --state ${Number(given_up) > 0 ? 'dead' : 'queued'}`,
    )
  return delivery.ok(`${name} is set up, and no message is waiting`)
}

/** Whether messages are delivered, if the service reports it. */
export const checkDelivery = (context: Context): Promise<Finding[]> => {
  const unsupported = [delivery.note('this service does not report it')]
  const scopeMissing = 'not shown: this key lacks the scopes "read" and "notify"'
  return tryCheck('delivery', { unsupported, scopeMissing }, async () => {
    const client = await context.client()
    const answer = await client.call(outbox.listChannels, {}, { signal: context.io.signal })
    const rows = rowsIn(outbox.listChannels, answer)
    return rows.every(isComplete) ? rows.map(checkChannel) : unsupported
  })
}

const limitMs = 5_000
const warnsDays = 14

/** When the certificate of a host expires. Rejects if the handshake fails. */
const readExpiry = (url: URL, ca: string | undefined, signal: AbortSignal): Promise<number> =>
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

/** Whether this machine trusts the certificate of the service, and when it expires. */
export const checkCertificate = async (context: Context): Promise<Finding> => {
  const { note, ok, warn, fail } = about('tls')
  const { baseUrl, cacert } = await context.settings()
  const url = new URL(baseUrl.value)
  if (url.protocol !== 'https:') return note('not used: plain http on this machine')
  if (proxyFor(url.origin, context.io.env)) return note('not checked: a proxy is used')
  try {
    const expiry = await readExpiry(url, cacert && readCa(cacert.value), context.io.signal)
    const left = Math.floor((expiry - context.io.now().getTime()) / dayMs)
    const message = `the certificate of ${url.host} is trusted and expires in ${left} days`
    return left < warnsDays ? warn(message, 'renew it on the service') : ok(message)
  } catch (error) {
    if (context.io.signal.aborted) throw interrupted()
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    return fail(`no trusted connection to ${url.host}: ${code}`, '--cacert FILE trusts a CA of your own')
  }
}
