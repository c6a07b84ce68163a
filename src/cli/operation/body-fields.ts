import { usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { Io } from '../terminal/io.ts'
import { readJson, readText } from '../terminal/input-file.ts'
import { many } from './flags.ts'
import type { Flags } from '../program/command-node.ts'
import { isRecord } from '../../core/is-record.ts'

// Additional body fields, as in gh: -f for text, -F for typed values, --input for a whole file.

export type BodyFlags = { rawField?: string[]; field?: string[]; input?: string }

export const bodyFlags: Flags = {
  '-f, --raw-field <key=value>': many('Additional body field, as text'),
  '-F, --field <key=value>': many('Additional body field, typed; a.b[]=1 nests, @file reads a file'),
  '--input <file>': 'JSON file with the body; - for standard input',
}

const typed = async (value: string, io: Io): Promise<unknown> => {
  if (value.startsWith('@')) return readText(value.slice(1), io, '-F')
  if (!/^(?:true|false|null|-?\d|[[{"])/.test(value)) return value
  const parsed = parseJson(value)
  return parsed === undefined ? value : parsed
}

type Tree = { [key: string]: unknown }

/** Puts `value` at `a.b[]` of `body`. */
const put = (body: Tree, key: string, value: unknown): void => {
  const steps = key.split('.')
  if (!/^[^.[\]=]+(?:\.[^.[\]=]+)*(?:\[\])?$/.test(key) || steps.includes('__proto__'))
    throw usageError(
      `"${key}" is not a valid field name`,
      'Fields look like name=value, policy.factors[]=location',
    )
  const last = steps.pop()!
  let at = body
  for (const step of steps) {
    const next = Object.hasOwn(at, step) ? at[step] : (at[step] = {})
    if (typeof next !== 'object' || next === null || Array.isArray(next))
      throw usageError(`"${key}" cannot be set: ${step} already has a value`)
    at = next as Tree
  }
  if (!last.endsWith('[]')) at[last] = value
  else {
    const name = last.slice(0, -2)
    const list = Object.hasOwn(at, name) ? at[name] : []
    at[name] = [...(Array.isArray(list) ? list : [list]), value]
  }
}

const split = (flag: string, text: string): [key: string, value: string] => {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`${flag} must be key=value, not "${text}"`)
  return [text.slice(0, at), text.slice(at + 1)]
}

const readObject = async (file: string, io: Io): Promise<Tree> => {
  const value = await readJson(file, io, '--input')
  if (!isRecord(value)) throw usageError('--input: the body must be a JSON object')
  return { ...value }
}

/** The additional body fields; undefined without any of the three flags. */
export const readBody = async (flags: BodyFlags, io: Io): Promise<Tree | undefined> => {
  if (!flags.input && !flags.field && !flags.rawField) return undefined
  const body: Tree = flags.input ? await readObject(flags.input, io) : {}
  for (const text of flags.rawField ?? []) put(body, ...split('-f', text))
  for (const text of flags.field ?? []) {
    const [key, value] = split('-F', text)
    put(body, key, await typed(value, io))
  }
  return body
}
