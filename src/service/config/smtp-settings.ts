import { email } from '../../contract/records.ts'
import type { Env } from '../../core/env.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import { badConfig, openText, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

export type Mailbox = { name: string; address: string }

export type SmtpSettings = {
  host: string
  port: number
  /** TLS from the first byte. */
  secure: boolean
  /** No TLS at all; otherwise STARTTLS is required. */
  plain: boolean
  user?: string | undefined
  password?: string | undefined
  from: Mailbox
  /** Certificate authorities (PEM) to trust in addition to the system's. */
  ca?: string | undefined
}

const ports: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 }

const urlHint = 'smtps://user@mail.example.com:465, or smtp://user@mail.example.com:587 with STARTTLS'

const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && (url.pathname === '' || url.pathname === '/') && !url.search && !url.hash
  if (plain && url.hostname !== '' && ports[url.protocol] !== undefined) return url
  throw badConfig('smtp.url is not a valid URL of a mail server', urlHint)
}

/** `Acme <no-reply@example.com>`, or only the address. */
const parseMailbox = (text: string): Mailbox => {
  const [, name = '', inner = text] = /^([^<>\p{Cc}]*)<([^<>\s]*)>$/u.exec(text.trim()) ?? []
  const checked = email.safeParse(inner)
  if (!checked.success || /[\p{Cc}<>"(),:;\\]/u.test(checked.data))
    throw badConfig(
      'smtp.from is not a valid e-mail address',
      'Acme <no-reply@example.com>, or only the address',
    )
  return { name: name.replaceAll('"', '').trim(), address: checked.data }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badConfig('smtp.url contains a % that does not encode a character', 'Write % as %25')
  }
}

/** The mail server; undefined if none is configured. A password is only used with an address that names a user. */
export const smtpSettings = (file: NonNullable<Config['smtp']>, env: Env): SmtpSettings | undefined => {
  const text = env.SVC_SMTP_URL || file.url
  if (text === undefined) {
    if (Object.keys(file).length > 0) throw badConfig('smtp.url is missing', urlHint)
    return undefined
  }
  const url = parseUrl(text)
  const from = env.SVC_SMTP_FROM || file.from
  if (from === undefined)
    throw badConfig('smtp.from is missing', 'Set the sender of e-mail: SVC_SMTP_FROM or smtp.from')
  const user = decoded(url.username)
  const password =
    env.SVC_SMTP_PASSWORD ||
    (url.password ? decoded(url.password) : readSecret(file.password_file, 'smtp.password_file'))
  if (user !== '' && password === undefined)
    throw badConfig(
      'smtp.url names a user but has no password',
      'Set smtp.password_file or SVC_SMTP_PASSWORD',
    )
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = url.protocol === 'smtps:'
  return {
    host,
    port: url.port === '' ? ports[url.protocol]! : Number(url.port),
    secure,
    plain: !secure && (file.plain ?? isLoopbackHost(host)),
    ...(user !== '' && { user, password }),
    from: parseMailbox(from),
    ...(file.ca_file !== undefined && { ca: openText(file.ca_file, 'smtp.ca_file').text }),
  }
}
