import { safeJson } from '../core/safe-text.ts'
import { quoted } from '../core/shell-quote.ts'

/** A token that replaces a secret, and the shell variable that contains the secret. */
export type Placeholder = { token: string; variable: string; isText: boolean }

/** A request without secrets: placeholders replace them. */
export type PrintableRequest = {
  method: string
  url: string
  headers?: Record<string, string>
  body?: Record<string, unknown>
}

type CurlOptions = {
  placeholders?: readonly Placeholder[]
  /** A file with the CA to trust. */
  cacert?: string | undefined
  /** Whether a key is required; default true. */
  withKey?: boolean
}

/** If the variable is not set, the shell stops and does not run curl. */
const variable = (name: string): string => `"\${${name}:?}"`

/** Quoted text for a POSIX shell, with each placeholder replaced by its variable. */
const shellText = (text: string, placeholders: readonly Placeholder[]): string => {
  const next = placeholders
    .map(({ token, variable: name }) => ({ token, name, at: text.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)[0]
  if (!next) return text === '' ? '' : quoted(text)
  const [before, after] = [text.slice(0, next.at), text.slice(next.at + next.token.length)]
  return (before === '' ? '' : quoted(before)) + variable(next.name) + shellText(after, placeholders)
}

/** The body as JSON; the placeholder of a secret that is not text has no quotes. */
const bodyText = (body: Record<string, unknown>, placeholders: readonly Placeholder[]): string =>
  placeholders
    .filter(({ isText }) => !isText)
    .reduce((json, { token }) => json.replaceAll(`"${token}"`, token), safeJson(body))

/**
 * A line for a POSIX shell that sends the same request. The key and every secret are variables, which must be set first.
 */
export const curlLine = (request: PrintableRequest, options: CurlOptions = {}): string => {
  const { method, url, headers = {}, body } = request
  const { placeholders = [], cacert, withKey = true } = options
  return [
    'curl',
    // curl would read brackets and braces (`[::1]`) as patterns.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(cacert === undefined ? [] : ['--cacert', quoted(cacert)]),
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['--head'] : ['-X', method]),
    shellText(url, placeholders),
    ...(withKey ? ['-H "x-api-key: ${SVC_API_KEY:?}"'] : []),
    "-H 'content-type: application/json'",
    ...Object.entries(headers).map(([name, value]) => `-H ${shellText(`${name}: ${value}`, placeholders)}`),
    ...(body === undefined ? [] : ['--data-raw', shellText(bodyText(body, placeholders), placeholders)]),
  ].join(' ')
}
