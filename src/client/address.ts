import { withoutSlash } from './request.ts'
import { usageError } from '../core/errors.ts'

export const apiRoot = '/admin/public/api'
export const defaultBaseUrl = `http://127.0.0.1:8080${apiRoot}`

const parse = (text: string, what: string, example: string): URL => {
  const url = URL.canParse(text) && !/\s/.test(text) ? new URL(text) : undefined
  const wrong = !url
    ? `is not a valid URL${text.includes('@') ? '' : `: "${text}"`}`
    : url.protocol !== 'http:' && url.protocol !== 'https:'
      ? 'must start with http:// or https://'
      : url.username || url.password
        ? 'must not contain a user name or password'
        : url.search || url.hash || /[?#]/.test(text)
          ? 'must not contain ? or #'
          : undefined
  if (!url || wrong) throw usageError(`${what} ${wrong}`, `Example: ${example}`)
  return url
}

/** The address of the REST API without a trailing slash. `what` names its flag, variable or field in an error. */
export const checkBaseUrl = (text: string, what: string): string =>
  withoutSlash(parse(text, what, 'https://host.example/admin/public/api').href)

/** The address of the approval tool server; it must end in /mcp. */
export const checkMcpUrl = (text: string, what: string): string => {
  const url = parse(text, what, 'https://host.example/mcp')
  if (!url.pathname.endsWith('/mcp'))
    throw usageError(`${what} must end in /mcp, not "${url.pathname}"`, `${url.origin}/mcp`)
  return url.href
}

/** Scheme, host and port; undefined if the text is not a URL. */
export const originOf = (text: string): string | undefined =>
  URL.canParse(text) ? new URL(text).origin : undefined

/** A hint for a base URL without a path: the API root ends in /admin/public/api. */
export const pathHint = (baseUrl: string): string | undefined => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  return url?.pathname === '/' ? `the API root is usually ${url.origin}/admin/public/api` : undefined
}
