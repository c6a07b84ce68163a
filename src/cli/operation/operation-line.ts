import { argsOf, fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { shellWord } from '../../core/shell-word.ts'
import { isOrg } from '../context/organization.ts'
import { withoutSecrets } from '../program/command-line.ts'
import type { Gathered, Typed } from './flags.ts'

const valueAt = (input: Record<string, unknown>, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], input)

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `svc geofence delete 1`: an operation with all that it was given, but for the organization. */
export const operationLine = (operation: Operation, { input, extra }: Gathered, typed: Typed): string => {
  const places = argsOf(operation)
  const words = places.map((name, i) => shellWord(typed.args[i] ?? asText(input[name])))
  const flags = fieldsOf(operation).flatMap((field) => {
    const value = valueAt(input, field.path)
    if (places.includes(field.name) || isOrg(field) || value === undefined) return []
    return [`--${field.flag}`, field.meta.secret ? '***' : shellWord(asText(value))]
  })
  const secret = new Set(fieldsOf(operation).flatMap(({ name, meta }) => (meta.secret ? [name] : [])))
  const more = Object.entries(withoutSecrets(extra) as Record<string, unknown>).flatMap(([name, value]) => [
    '-F',
    shellWord(`${name}=${secret.has(name) ? '***' : asText(value)}`),
  ])
  return ['svc', operation.cli, ...words, ...flags, ...more].join(' ')
}
