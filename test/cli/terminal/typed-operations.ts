import { argsOf, fieldsOf } from '../../../src/contract/describe.ts'
import { asksFirst, orgFields, type Field, type Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import type { Seen } from '../../fake-hosted.ts'
import { groups } from '../../../src/cli/main.ts'
import { personalText } from './sample.ts'

// The operations of the table that are commands, and how to type each.

/** `svc whoami` adds fields to the response of its operation, and `svc rule test` has words and flags of its own. */
const writtenByHand = new Set(['rule test', 'whoami'])

export const operations = Object.entries(table as Record<string, Operation>).filter(
  ([, { cli }]) => Object.hasOwn(groups, cli.split(' ')[0]!) && !writtenByHand.has(cli),
)

/** The words of an example, up to the first shell operator, without a format: tests choose it. */
const words = (example: string): string[] =>
  [
    ...example
      .replace(/ -o \w+/, '')
      .split(/ [>|] /)[0]!
      .matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
  ].map(([, single, double, plain]) => single ?? double ?? plain!)

/** Numbers and addresses are those of the sample, so that a filter finds it. */
const ofSample = (word: string): string => {
  if (/^\+\d{8,}$/.test(word)) return personalText.mobile
  return /^[\w.]+@[\w.]+$/.test(word) ? personalText.email : word
}

const valueOf = ({ kind, choices, meta, flag }: Field): string => {
  const example = meta.examples?.[0] ?? choices[0] ?? (kind === 'integer' || kind === 'number' ? 7 : 'x')
  if (flag === 'org') return '1'
  if (kind === 'json') return JSON.stringify(typeof example === 'object' ? example : {})
  return Array.isArray(example) ? example.join(',') : String(example)
}

const typedOf = (operation: Operation, field: Field): string[] => {
  if (argsOf(operation).includes(field.name)) return [valueOf(field)]
  return field.kind === 'boolean' ? [`--${field.flag}`] : [`--${field.flag}`, valueOf(field)]
}

/**
 * The words to type: the example or, if there is none, the required values. Confirmations are skipped. A secret is read from
 * `secretFile`.
 */
export const argvOf = (operation: Operation, secretFile: string): string[] => {
  const typed = operation.example
    ? words(operation.example)
    : fieldsOf(operation)
        .filter(({ required, name }) => required || orgFields.includes(name))
        .flatMap((field) => typedOf(operation, field))
  const files = new Set(fieldsOf(operation).flatMap(({ meta, flag }) => (meta.secret ? [`--${flag}`] : [])))
  const argv = typed.map((word, i) => (files.has(typed[i - 1] ?? '') ? secretFile : ofSample(word)))
  const sure = asksFirst(operation) && !argv.includes('--yes') ? ['--yes'] : []
  return [...operation.cli.split(' '), ...argv, ...sure]
}

const patterns = new Map<Operation, RegExp>()

const patternOf = (operation: Operation): RegExp => {
  const below = operation.path.startsWith('/svc/v1/') ? operation.path : `/admin/public/api${operation.path}`
  const pattern = below
    .split('/')
    .map((part) => (part.startsWith('{') ? '[^/?]+' : part))
    .join('/')
  return new RegExp(`^${pattern}(?:\\?|$)`)
}

export const isMeant = (operation: Operation, { method, path }: Seen): boolean => {
  if (operation.method !== method) return false
  const pattern = patterns.get(operation) ?? patternOf(operation)
  patterns.set(operation, pattern)
  return pattern.test(path)
}
