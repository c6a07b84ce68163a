import { safeJson } from '../core/safe-text.ts'
import { quoted } from '../core/shell-quote.ts'

/** What stands in place of a secret, and the variable of the shell that holds it. */
export type Placeholder = { token: string; variable: string; isText: boolean }

/** A request that may be printed: placeholders stand for its secrets. */
export type PrintableRequest = {
  method: string
  url: string
  headers?: Record<string, string>
  body?: Record<string, unknown>
}

type Circumstances = {
  placeholders?: readonly Placeholder[]
  /** A file with the CA to trust. */
  cacert?: string | undefined
  /** Whether a key is needed; it is when this is left out. */
  withKey?: boolean
}

/** The shell stops, and curl is not run, where a variable is not set. */
const variable = (name: string): string => `"\${${name}:?}"`

/** Text in quotes for a POSIX shell; each placeholder is the variable that holds the secret. */
const shellText = (text: string, placeholders: readonly Placeholder[]): string => {
  const next = placeholders
    .map(({ token, variable: name }) => ({ token, name, at: text.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)[0]
  if (!next) return text === '' ? '' : quoted(text)
  const [before, after] = [text.slice(0, next.at), text.slice(next.at + next.token.length)]
  return (before === '' ? '' : quoted(before)) + variable(next.name) + shellText(after, placeholders)
}

/** The body as JSON; a secret that is no text has no quotes around its placeholder. */
const bodyText = (body: Record<string, unknown>, placeholders: readonly Placeholder[]): string =>
  placeholders
    .filter(({ isText }) => !isText)
    .reduce((json, { token }) => json.replaceAll(`"${token}"`, token), safeJson(body))

/**
 * A line for a POSIX shell that sends the same request. The key and every secret are variables: the line does not run
 * before they are set.
 */
export const curlLine = (request: PrintableRequest, circumstances: Circumstances = {}): string => {
  const { method, url, headers = {}, body } = request
  const { placeholders = [], cacert, withKey = true } = circumstances
  return [
    'curl',
    // Brackets and braces (`[::1]`) would be patterns to curl.
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
