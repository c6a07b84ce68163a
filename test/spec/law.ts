import { readFileSync } from 'node:fs'

// Reads the two files that were written by hand from the specification.

export type Promised = { stands: boolean; group: string; method: string; path: string; command: string }
export type PromisedField = {
  route: string
  place: 'body' | 'data'
  field: string
  type: string
  required: boolean
}

export const rows = (file: string): string[][] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('|').map((cell) => cell.trim()))

const all = rows('routes.txt').map(([stands, group, route, command]): Promised => {
  const [method, path] = route!.split(' ')
  return { stands: stands === 'now', group: group!, method: method!, path: path!, command: command! }
})

export const toolServer = all.filter(({ group }) => group === 'tool server')
/** The 64 operations without the tool server: everything below the API root. */
export const rest = all.filter(({ group }) => group !== 'tool server')
export const standing = rest.filter(({ stands }) => stands)

export const fields = rows('fields.txt').map(([route, place, field, type, required]): PromisedField => ({
  route: route!,
  place: place as 'body' | 'data',
  field: field!,
  type: type!,
  required: required === 'required',
}))

export const routeText = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`

/** Queries with which more scopes are enough. */
const widest: Record<string, string> = { 'GET /svc/v1/keys': '?mine=true' }

/** The path of an operation on objects that do not exist, so that an allowed call changes nothing. */
export const pathToNothing = (operation: { method: string; path: string }): string =>
  `${operation.path.replaceAll(/\{\w+\}/g, '999999')}${widest[routeText(operation)] ?? ''}`

/** A path with a value in each `{}`, and those values. Written independently of the code that it checks. */
export const filled = (path: string): { path: string; values: Record<string, number | string> } => {
  const values: Record<string, number | string> = {}
  const parts = path.split('/').map((part, i) => {
    if (!part.startsWith('{')) return part
    const name = part.slice(1, -1)
    values[name] = name === 'org_code' || name === 'orgIdOrSlug' ? 'no-such' : 900_000 + i
    return String(values[name])
  })
  return { path: parts.join('/'), values }
}
