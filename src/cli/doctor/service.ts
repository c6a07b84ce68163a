import { shellWord } from '../../core/shell-word.ts'
import { org } from '../../contract/org.ts'
import { SvcError } from '../../core/errors.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Answer } from '../../client/client.ts'
import type { Context } from '../context/context.ts'
import { pathHint } from '../context/address.ts'
import type { Settings } from '../context/settings.ts'
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
  const login = `svc profile login ${shellWord(profile.value)}`
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
