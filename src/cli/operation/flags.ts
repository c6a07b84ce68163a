import type { Field } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { parseJson } from '../../core/parse-json.ts'
import { listed } from '../../core/sentence.ts'
import type { Need, Flag, Flags } from '../program/command-node.ts'
import { expandDays, expandSlots, timeForms, typedSeconds, typedTime, type Direction } from './typed-time.ts'
import type { Io } from '../terminal/io.ts'
import { readText } from '../terminal/input-file.ts'

const placeholder: Record<Field['kind'], string> = {
  string: '<text>',
  integer: '<n>',
  number: '<n>',
  boolean: '',
  enum: '<word>',
  list: '<list>',
  json: '<json|@file>',
}

/** Whether a relative time such as `2h` is in the past or in the future; undefined for a field that takes none. */
const directionOf = ({ meta }: Field): Direction | undefined =>
  meta.past ? 'past' : meta.future ? 'future' : undefined

const valueName = (field: Field): string => {
  if (field.flag === 'org') return '<org>'
  if (field.flag === 'user') return '<id>'
  if (directionOf(field)) return '<when>'
  return field.meta.secret ? '<file>' : placeholder[field.kind]
}

/** Reads a flag that can be repeated. */
const collect = (value: string, before: string[] = []): string[] => [...before, value]

/** A flag that can be repeated. */
export const many = (about: string): Flag => ({ about: `${about} (can be repeated)`, read: collect })

/** Reads a flag that can be repeated and takes words separated by commas. */
export const collectWords = (value: string, before: string[] = []): string[] => [
  ...before,
  ...value.split(',').filter((word) => word !== ''),
]

/** Descriptions of fields for which the command line accepts more than a request does. */
const labels: Record<string, string> = {
  org: 'Organization, id or slug',
  limit: 'Number of rows to show',
  cursor: 'Position to continue from; svc prints it when there are more rows',
}

export const label = (field: Field): string => labels[field.flag] ?? field.meta.description

const about = (field: Field): string => {
  const notes = field.choices.length > 0 ? [field.choices.join('|')] : []
  if (field.kind === 'list')
    notes.push(field.meta.repeat ? 'can be repeated' : 'repeat or separate with commas')
  const direction = directionOf(field)
  if (direction) notes.push(timeForms(direction))
  if (isSeconds(field)) notes.push('or 5m, 1h')
  if (field.meta.secret) notes.push('read from this file; - for standard input')
  return label(field) + (notes.length > 0 ? ` (${notes.join('; ')})` : '')
}

/** A number of seconds, which can be typed as `5m`. */
const isSeconds = ({ name }: Field): boolean => name.endsWith('_s')

/** The flags of one field. Its value stays text until `parseValue`, so that an error can name the flag. */
export const flagsFor = (field: Field, need?: Need): [flags: string, Flag][] => {
  const { flag, kind, meta } = field
  const read = kind === 'list' ? (meta.repeat ? collect : collectWords) : undefined
  const own: [string, Flag] = [`--${flag} ${valueName(field)}`.trim(), { about: about(field), read, need }]
  return kind === 'boolean' ? [own, [`--no-${flag}`, `Turn off --${flag}`]] : [own]
}

/** For a command that writes: the client sends it with each write. */
export const reasonFlag: Flags = { '--reason <text>': 'Reason, if a rule of the organization requires one' }

/** The key under which commander stores a flag's value: `ip-allow` -> `ipAllow`. */
export const optionKey = (flag: string): string =>
  flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const readJsonValue = async (text: string, io: Io, name: string): Promise<unknown> => {
  const json = text.startsWith('@') ? await readText(text.slice(1), io, name) : text
  const value = parseJson(json)
  if (value !== undefined) return value
  throw usageError(`${name} is not valid JSON`, `${name} @file.json reads it from a file`)
}

/** An error does not list more values than this; the help does. */
const mostListed = 12

/**
 * A number, a word or text, in the type of its field. Throws a usage error that names the flag or argument (`name`).
 */
export const parseScalar = (field: Field, raw: unknown, name = `--${field.flag}`): unknown => {
  const value = field.name === 'days' ? expandDays(raw) : raw
  const text = isSeconds(field) ? typedSeconds(String(raw)) : String(raw)
  const wrong = (what: string, typed = text) => usageError(`${name} must be ${what}, not "${typed}"`)
  const values = Array.isArray(value) ? value.map(String) : [text]
  const { choices } = field
  const unknown = choices.length === 0 ? undefined : values.find((one) => !choices.includes(one))
  if (unknown !== undefined) {
    if (choices.length <= mostListed) throw wrong(listed(choices), unknown)
    const near = nearest(unknown, choices)
    const meant = near === undefined ? '' : `; did you mean ${near}?`
    throw usageError(
      `${name} does not accept "${unknown.slice(0, 60)}"${meant}`,
      `${name} ${near ?? choices[0]}`,
    )
  }
  if (field.kind === 'integer' && !/^-?\d{1,15}$/.test(text))
    throw wrong(isSeconds(field) ? 'seconds, such as 300 or 5m' : 'a whole number')
  if (field.kind === 'number' && !/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) throw wrong('a number')
  return field.kind === 'integer' || field.kind === 'number' ? Number(text) : value
}

/** Like `parseScalar`, but also reads files, times and JSON. */
export const parseValue = async (
  field: Field,
  raw: unknown,
  io: Io,
  name = `--${field.flag}`,
): Promise<unknown> => {
  if (field.meta.secret)
    return (await readText(String(raw), io, name, { secret: true })).replace(/\r?\n$/, '')
  const direction = directionOf(field)
  if (direction) return typedTime(field.flag, String(raw), direction, io.now())
  if (field.kind !== 'json') return parseScalar(field, raw, name)
  const value = await readJsonValue(String(raw), io, name)
  return field.name === 'timeslots' ? expandSlots(value) : value
}

export type Gathered = {
  input: Record<string, unknown>
  /** Body fields from -f, -F and --input; they win over flags. */
  extra: Record<string, unknown>
}

export const put = (input: Record<string, unknown>, path: string[], value: unknown): void => {
  const [first, ...rest] = path as [string, ...string[]]
  if (rest.length === 0) input[first] = value
  else {
    const below = (input[first] ??= {}) as Record<string, unknown>
    put(below, rest, value)
  }
}

/** The value of a flag that takes a whole number. */
export const readWhole = (flag: string, text: string, least: number, most: number): number => {
  if (/^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  throw usageError(
    `${flag} must be a whole number from ${least} to ${most}, not "${text}"`,
    `${flag} ${least}`,
  )
}
