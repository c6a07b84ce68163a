import type * as z from 'zod/mini'
import type { Issue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import { listed } from '../core/sentence.ts'
import { coreOf } from './schema.ts'

type ZodIssue = z.core.$ZodIssue

/** `geofences[0].radius` */
const dotted = (path: PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text ? `${text}.${String(part)}` : String(part)
  }, '')

const at = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown> | undefined)?.[part], value)

/** The known field names at `path`. */
const namesAt = (schema: z.core.$ZodType, path: PropertyKey[]): string[] => {
  const { shape = {}, element } = coreOf(schema)
  const [part, ...rest] = path
  if (part === undefined) return Object.keys(shape)
  const inner = typeof part === 'number' ? element : shape[String(part)]
  return inner ? namesAt(inner, rest) : []
}

const types: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const parts: Record<string, string> = { string: 'characters', array: 'entries' }

const size = (origin: string, limit: unknown, side: 'least' | 'most'): string =>
  parts[origin]
    ? `must have at ${side} ${limit} ${parts[origin]}`
    : `must be ${limit} or ${side === 'least' ? 'more' : 'less'}`

const valuesOf = (issue: ZodIssue): unknown[] => {
  if (issue.code === 'invalid_value') return issue.values as unknown[]
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(valuesOf) : []
}

/** The problem, as the predicate of a sentence that starts with the name of the field. */
const predicate = (issue: ZodIssue, value: unknown): string => {
  if (value === undefined) return 'is missing'
  // zod/mini reports this if the schema has no message.
  if (issue.message !== 'Invalid input') return issue.message
  if (issue.code === 'invalid_key' && issue.issues[0]) return predicate(issue.issues[0] as ZodIssue, value)
  const values = valuesOf(issue)
  if (values.length > 0) return `must be ${listed(values.map(String))}`
  if (issue.code === 'invalid_type') return `must be ${types[issue.expected] ?? issue.expected}`
  if (issue.code === 'too_small') return size(issue.origin, issue.minimum, 'least')
  if (issue.code === 'too_big') return size(issue.origin, issue.maximum, 'most')
  return 'is not valid'
}

/** Fields of which people know from elsewhere, and what says it here. */
const elsewhere: Record<string, string> = {
  require_approval: 'is not a known field; rules say who must approve a call: svc rule create --help',
  timeout: 'is not a known field; it is called lifetime_s, in seconds',
}

/** An issue for an unknown field, with the most similar known one. */
export const unknownField = (name: string, known: readonly string[], prefix = ''): Issue => {
  const meant = nearest(name, known)
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  const message =
    (Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined) ??
    (meant ? `is not a known field; did you mean ${meant}?` : 'is not a known field')
  return { field: prefix ? `${prefix}.${shown}` : shown, message }
}

export type PlacedIssue = Issue & { path: PropertyKey[] }

/** At most 50 issues, worded for people, each with its path. */
export const placedIssuesOf = (
  error: z.core.$ZodError,
  schema: z.core.$ZodType,
  input: unknown,
): PlacedIssue[] =>
  error.issues
    .slice(0, 50)
    // The length of a value of another type, which is checked next.
    .filter(
      ({ path }, i, { [i - 1]: one }) => one?.code !== 'invalid_type' || dotted(one.path) !== dotted(path),
    )
    .flatMap((issue): PlacedIssue[] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.slice(0, 50).map((key) =>
            Object.assign(unknownField(key, namesAt(schema, issue.path), dotted(issue.path)), {
              path: [...issue.path, key],
            }),
          )
        : [
            {
              field: dotted(issue.path) || 'input',
              message: predicate(issue, at(input, issue.path)),
              path: issue.path,
            },
          ],
    )
    .slice(0, 50)

/** At most 50 issues, worded for people. */
export const issuesOf = (error: z.core.$ZodError, schema: z.core.$ZodType, input: unknown): Issue[] =>
  placedIssuesOf(error, schema, input).map(({ field, message }) => ({ field, message }))
