import type { Operation } from '../contract/operation.ts'
import { fillPath, pathNames } from '../contract/path.ts'
import { fieldsOf } from '../contract/describe.ts'
import { looksSecret } from '../core/secret-name.ts'

/** The request of an operation, without secrets. */
export type PlannedRequest = { method: Operation['method']; url: string; body?: Record<string, unknown> }

/** An address such as `https://host/admin/public/api`, without trailing slashes. */
export const withoutSlash = (url: string): string => {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}

/** The URL of a raw path: below the API root, or from the origin if it starts with /svc/ or /.well-known/. */
export const rawUrl = (baseUrl: string, path: string): string => {
  const root = /^\/(?:svc|\.well-known)\//.test(path) ? new URL(baseUrl).origin : withoutSlash(baseUrl)
  return new URL(root + path).href
}

/** A raw path without the path of the API root, with which a dry run and `/openapi.json` print it. */
export const belowRoot = (baseUrl: string, path: string): string => {
  const { pathname } = new URL(withoutSlash(baseUrl))
  return pathname !== '/' && path.startsWith(`${pathname}/`) ? path.slice(pathname.length) : path
}

/**
 * Distributes the values of the input: names in `{}` into the path, the rest into the query of a GET or DELETE and into
 * the body of a POST or PUT. `extra` holds further fields that the table does not name.
 */
export const planRequest = (
  baseUrl: string,
  operation: Pick<Operation, 'method' | 'path'>,
  input: Record<string, unknown>,
  extra: Record<string, unknown> = {},
): PlannedRequest => {
  const inPath = new Set(pathNames(operation.path))
  const path = fillPath(operation.path, (name) => encodeURIComponent(String(input[name])))
  const rest = Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !inPath.has(name) && value !== undefined),
  )
  const fields = { ...rest, ...extra }
  const url = new URL(
    operation.path.startsWith('/svc/') ? new URL(baseUrl).origin + path : withoutSlash(baseUrl) + path,
  )
  if (operation.method === 'POST' || operation.method === 'PUT')
    return { method: operation.method, url: url.href, body: fields }
  for (const [name, value] of Object.entries(fields))
    url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return { method: operation.method, url: url.href }
}

/** An address for a debug line: fields that are marked as secret or named like a secret are replaced by `***`. */
export const redactedUrl = (
  url: string,
  operation?: Operation,
  input: Record<string, unknown> = {},
): string => {
  const shown = new URL(url)
  for (const name of new Set(shown.searchParams.keys()))
    if (looksSecret(name)) shown.searchParams.set(name, '***')
  // spec: the one route of the specification with a token in its path
  shown.pathname = shown.pathname.replace(/(\/save\/faceauth\/success\/).*/, '$1***')
  const secrets = (operation ? fieldsOf(operation) : [])
    .filter(({ name, meta }) => meta.secret && typeof input[name] === 'string')
    .map(({ name }) => encodeURIComponent(input[name] as string))
  return secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), shown.href)
}
