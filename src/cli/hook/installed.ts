import { isDeepStrictEqual } from 'node:util'
import { readForeignConfig, without, withValue, type ForeignConfig } from '../context/foreign-config.ts'
import type { Host, EntryParts } from './host.ts'
import { isOurCommand } from './hook-line.ts'

/** The configuration of a host: its file, and the element that svc has written, or -1. */
export type Installation = {
  config: ForeignConfig
  index: number
  entry: unknown
  command: string | undefined
}

const valueAt = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (inner as Record<string | number, unknown> | null | undefined)?.[name],
    value,
  )

const commandOf = (host: Host, entry: unknown): string | undefined => {
  const command = valueAt(entry, host.commandAt)
  return typeof command === 'string' && isOurCommand(command, host.name) ? command : undefined
}

/** Reads what is installed. Throws if the file is damaged or has another form than the host documents. */
export const readInstallation = (host: Host, path: string): Installation => {
  const config = readForeignConfig(path)
  config.requireObject(['hooks'])
  const list = config.at(['hooks', host.event]) ?? []
  if (!Array.isArray(list)) throw config.wrong(['hooks', host.event], 'must be a list')
  const index = list.findIndex((entry) => commandOf(host, entry) !== undefined)
  const entry: unknown = list[index]
  return { config, index, entry, command: commandOf(host, entry) }
}

/** The text of the file with the hook, and with `setting` if there is one; undefined if both are already there. */
export const installed = (
  host: Host,
  { config, index, entry }: Installation,
  wanted: EntryParts,
  setting: string | undefined,
): string | undefined => {
  const next = host.entry(wanted)
  const isSet = setting === undefined || config.at([setting]) === true
  if (isSet && isDeepStrictEqual(entry, next)) return undefined
  const text = withValue(config.textOr(host.fresh ?? {}), ['hooks', host.event, index], next)
  return isSet ? text : withValue(text, [setting], true)
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

/** The text of the file without the hook and the setting for skills; empty if nothing of use is left in it. */
export const uninstalled = (host: Host, { config, index }: Installation): string => {
  const at = ['hooks', host.event]
  const { skillSetting = '' } = host
  const whole = config.at([skillSetting]) === true ? without(config.text!, [skillSetting]) : config.text!
  let text = without(whole, [...at, index])
  if ((config.at(at) as unknown[]).length > 1) return text
  text = without(text, at)
  if (Object.keys(config.at(['hooks']) as object).length > 1) return text
  text = without(text, ['hooks'])
  const rest = config.at([]) as Record<string, unknown>
  const left = Object.fromEntries(
    Object.entries(rest).filter(([name]) => name !== 'hooks' && name !== skillSetting),
  )
  const hasComment = /\/[/*]/.test(text)
  return !hasComment && (isEmpty(left) || isDeepStrictEqual(left, host.fresh)) ? '' : text
}
