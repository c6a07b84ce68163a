import type { Command } from 'commander'
import { argsOf, fieldsOf } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'
import { shellWord } from '../core/shell-word.ts'
import { wordsOf } from './command-words.ts'
import type { Gathered, Typed } from './gather-input.ts'
import { isOrg } from './organization.ts'

// A command in words, for the person who approves it. No secret stands in it.

const looksSecret = (name: string): boolean => /secret|password|token|otp|key/i.test(name)

/** A body without the values of what looks like a secret, at any depth. */
export const withoutSecrets = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value: unknown) => (looksSecret(name) ? '***' : value))

/** `name=value` of -f and -F, without the value of a secret, be it inside of JSON. */
export const withoutSecret = (text: string): string => {
  const [name, value] = [text.slice(0, Math.max(0, text.indexOf('='))), text.slice(text.indexOf('=') + 1)]
  if (looksSecret(name)) return `${name}=***`
  try {
    return /^[[{]/.test(value) ? `${name}=${JSON.stringify(withoutSecrets(JSON.parse(value)))}` : text
  } catch {
    return text
  }
}

/** `svc import users.csv --org acme`, as it was typed; what was asked for on the terminal is not in it. */
export const typedLine = (command: Command): string => {
  const flags = command.options.flatMap((option) => {
    const name = option.attributeName()
    if (command.getOptionValueSource(name) !== 'cli' || name === 'yes' || name === 'confirm') return []
    const value: unknown = command.getOptionValue(name)
    const flag = option.long ?? option.short!
    if (typeof value === 'boolean') return [flag]
    return [value].flat().flatMap((one) => [flag, shellWord(withoutSecret(String(one)))])
  })
  return ['svc', ...wordsOf(command), ...command.args.map(shellWord), ...flags].join(' ')
}

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
