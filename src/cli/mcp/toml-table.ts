import { isDeepStrictEqual } from 'node:util'
import { parse, stringify, TomlError } from 'smol-toml'
import { damaged } from '../context/foreign-config.ts'

// One table of a TOML file changes; comments, order and layout of the rest stay.

type Table = Record<string, unknown>

/** The value of a TOML file. Throws if it is damaged. */
export const readToml = (path: string, text: string): Table => {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw damaged(path, `:${error.line}:${error.column}`, 'is not valid TOML')
  }
}

/** The text without the table of a name and the tables below it. */
const cut = (text: string, name: string): string => {
  let isOurs = false
  return text
    .split('\n')
    .filter((line) => {
      const header = /^[ \t]*\[\[?[ \t]*([\w.-]+)[ \t]*\]/.exec(line)?.[1]
      if (header !== undefined) isOurs = header === name || header.startsWith(`${name}.`)
      return !isOurs
    })
    .join('\n')
}

const without = (value: Table, [group, name]: readonly [string, string]): Table => {
  const { [group]: found, ...rest } = value
  const { [name]: _, ...others } = (found ?? {}) as Table
  return Object.keys(others).length > 0 ? { ...rest, [group]: others } : rest
}

/** The objects of the parser have no prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(plain(one), plain(other))

/** The text with the table `[group.name]` as given, or without it. Throws if anything else would change. */
export const withTable = (
  path: string,
  text: string,
  at: readonly [group: string, name: string],
  value: Table | undefined,
): string => {
  const before = readToml(path, text)
  const [group, name] = at
  const rest = cut(text, at.join('.')).trimEnd()
  const table = value && stringify({ [group]: { [name]: value } }).trimEnd()
  const parts = [rest, table].filter((part) => part !== undefined && part !== '')
  const after = parts.length > 0 ? `${parts.join('\n\n')}\n` : ''
  const read = readToml(path, after)
  const found = (read[group] as Table | undefined)?.[name]
  if (!isSame(found, value) || !isSame(without(read, at), without(before, at)))
    throw damaged(path, '', `defines ${at.join('.')} in a form that svc cannot change`)
  return after
}
