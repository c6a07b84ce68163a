import type { Env } from '../../core/env.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import { badConfig, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

export type SmsSettings = {
  url: string
  method: 'POST' | 'PUT'
  /** Lower-case; `{secret}` is replaced when one is sent. */
  headers: Record<string, string>
  /** JSON in whose texts `{to}`, `{text}`, `{id}` and `{secret}` are replaced. */
  body: Record<string, unknown>
  /** Where the answer holds the provider's id: `/messages/0/id`. */
  id?: string
  secret?: string
}

const usualBody = { to: '{to}', text: '{text}', id: '{id}' }

const parseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const hint = 'https://sms.example.com/messages'
  if (!url || !/^https?:$/.test(url.protocol)) throw badConfig('sms.url is not a valid URL', hint)
  if (url.username || url.password)
    throw badConfig('sms.url must not hold a name or a password', 'Put them into sms.headers')
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw badConfig('sms.url must be https, except on this machine', hint)
  return url.href
}

const words = /\{(\w+)\}/g

/** Every `{word}` in the texts of a template. */
const wordsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [...value.matchAll(words)].map(([, word]) => word!)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsIn) : []
}

const checkWords = (field: string, value: unknown, known: readonly string[]): string[] => {
  const found = wordsIn(value)
  const strange = found.find((word) => !known.includes(word))
  if (strange !== undefined)
    throw badConfig(
      `${field} holds {${strange}}, which stands for nothing`,
      `Use ${known.map((word) => `{${word}}`).join(', ')}`,
    )
  return found
}

/** Where text messages go; undefined when no provider is named. */
export const smsSettings = (
  given: { url?: string | undefined },
  file: NonNullable<Config['sms']>,
  env: Env,
): SmsSettings | undefined => {
  const text = given.url ?? (env.SVC_SMS_URL || file.url)
  if (text === undefined) {
    if (Object.keys(file).length > 0)
      throw badConfig('sms.url is missing', 'https://sms.example.com/messages')
    return undefined
  }
  const secret = env.SVC_SMS_SECRET || readSecret(file, 'sms.secret', env)
  const usualHeaders: Record<string, string> =
    secret === undefined ? {} : { authorization: 'Bearer {secret}' }
  const headers = Object.fromEntries(
    Object.entries(file.headers ?? usualHeaders).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const body = file.body ?? usualBody
  const used = new Set([
    ...checkWords('sms.headers', headers, ['secret']),
    ...checkWords('sms.body', body, ['to', 'text', 'id', 'secret']),
  ])
  for (const word of ['to', 'text'])
    if (!used.has(word))
      throw badConfig(`sms.body lacks {${word}}`, 'body: {to: "{to}", text: "{text}", id: "{id}"}')
  if (used.has('secret') && secret === undefined)
    throw badConfig(
      'sms holds {secret}, and there is none',
      'Give one with sms.secret_file, sms.secret_env or SVC_SMS_SECRET',
    )
  if (secret !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(secret))
    throw badConfig('sms.secret must be printable ASCII on one line', 'Look at where it comes from')
  return {
    url: parseUrl(text),
    method: file.method ?? 'POST',
    headers,
    body,
    ...(file.id !== undefined && { id: file.id }),
    ...(secret !== undefined && { secret }),
  }
}
