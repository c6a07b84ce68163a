import type { Env } from '../../core/env.ts'
import { badConfig, parseProviderUrl, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

export type SmsSettings = {
  url: string
  /** Lower-case; `{secret}` is replaced when one is sent. */
  headers: Record<string, string>
  /** JSON; `{to}`, `{text}`, `{id}` and `{secret}` in its texts are replaced. */
  body: Record<string, unknown>
  secret?: string
}

const defaultBody = { to: '{to}', text: '{text}', id: '{id}' }

const exampleUrl = 'https://sms.example.com/messages'

const placeholder = /\{(\w+)\}/g

const placeholdersIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [...value.matchAll(placeholder)].map(([, word]) => word!)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placeholdersIn) : []
}

const checkPlaceholders = (field: string, value: unknown, known: readonly string[]): string[] => {
  const found = placeholdersIn(value)
  const unknown = found.find((word) => !known.includes(word))
  if (unknown !== undefined)
    throw badConfig(
      `${field} contains {${unknown}}, which is not a placeholder`,
      `Use ${known.map((word) => `{${word}}`).join(', ')}`,
    )
  return found
}

/** The provider of text messages; undefined if none is configured. */
export const smsSettings = (file: NonNullable<Config['sms']>, env: Env): SmsSettings | undefined => {
  const text = env.SVC_SMS_URL || file.url
  if (text === undefined) {
    if (Object.keys(file).length > 0) throw badConfig('sms.url is missing', exampleUrl)
    return undefined
  }
  const secret = env.SVC_SMS_SECRET || readSecret(file.secret_file, 'sms.secret_file')
  const defaultHeaders = secret === undefined ? {} : { authorization: 'Bearer {secret}' }
  const headers = Object.fromEntries(
    Object.entries(file.headers ?? defaultHeaders).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const body = file.body ?? defaultBody
  const used = new Set([
    ...checkPlaceholders('sms.headers', headers, ['secret']),
    ...checkPlaceholders('sms.body', body, ['to', 'text', 'id', 'secret']),
  ])
  for (const word of ['to', 'text'])
    if (!used.has(word))
      throw badConfig(`sms.body must contain {${word}}`, 'body: {to: "{to}", text: "{text}", id: "{id}"}')
  if (used.has('secret') && secret === undefined)
    throw badConfig('sms uses {secret}, but no secret is set', 'Set sms.secret_file or SVC_SMS_SECRET')
  if (secret !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(secret))
    throw badConfig('The secret of sms must be printable ASCII on one line', 'Check where it comes from')
  return {
    url: parseProviderUrl('sms', text, exampleUrl).href,
    headers,
    body,
    ...(secret !== undefined && { secret }),
  }
}
