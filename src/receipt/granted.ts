import { isRecord } from '../core/is-record.ts'
import { canonicalData, type Subject } from './subject.ts'

// A grant is for what the person saw, again: only the parts that it names may differ, and only by one plain word.

/**
 * No option, no path that leads up, nothing that programs read as more than a word: `@file` is what a file contains, `name=value` a
 * setting, and `%2e` a dot.
 */
const plainWord = /^[\w,./][\w,./:+-]*$/

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' && plainWord.test(value) && !value.includes('..')

/** With these members of `_meta`, Claude Code and Codex mark each call: its number, and the conversation that it is part of. */
const marks = /^(?:claudecode\/toolUseId|(?:call|item|session|thread|window)Id)$/

const isMark = ([name, value]: [string, unknown]): boolean =>
  name === 'x-codex-turn-metadata' || (marks.test(name) && isPlain(value))

/** The other parameters of a call, without its marks: the same call again has others. */
const unmarked = (parameters: unknown): unknown => {
  if (!isRecord(parameters) || !isRecord(parameters['_meta'])) return parameters
  const { _meta: meta, ...others } = parameters
  const left = Object.entries(meta).filter((one) => !isMark(one))
  const all = { ...others, ...(left.length > 0 && { _meta: Object.fromEntries(left) }) }
  return Object.keys(all).length > 0 ? all : undefined
}

type Parts = {
  /** The values of the parts that may differ. */
  free: unknown[]
  /** Everything else. */
  fixed: string
}

/** `free`: of a command the places of words in `argv`, of a tool call the names of arguments. Undefined for other subjects. */
const partsOf = (subject: Subject, free: readonly string[]): Parts | undefined => {
  if (subject.type === 'command') {
    const { argv, ...rest } = subject.data
    const isFree = (at: number): boolean => free.includes(String(at))
    const fixed = { ...rest, argv: argv.map((word, at) => (isFree(at) ? null : word)) }
    return { free: argv.filter((_, at) => isFree(at)), fixed: canonicalData(fixed) }
  }
  if (subject.type !== 'tool_call') return undefined
  // What changed of the tool since an earlier call is told once.
  const { arguments: values, definition, parameters, ...rest } = subject.data
  const given = free.filter((name) => Object.hasOwn(values, name))
  const left = { ...values, ...Object.fromEntries(given.map((name) => [name, null])) }
  const others = unmarked(parameters)
  const fixed = {
    ...rest,
    ...(definition && { definition: definition.sha256 }),
    ...(others !== undefined && { parameters: others }),
    arguments: left,
  }
  return { free: given.map((name) => values[name]), fixed: canonicalData(fixed) }
}

/** What may differ, as a person knows it: the words of a command, or the names of arguments. */
export const freeNames = (subject: Subject, free: readonly string[]): string[] =>
  subject.type === 'command' ? subject.data.argv.filter((_, at) => free.includes(String(at))) : [...free]

/** Whether a subject is what was granted. */
export const isGranted = (granted: Subject, free: readonly string[], asked: Subject): boolean => {
  if (granted.type !== asked.type) return false
  const [before, now] = [partsOf(granted, free), partsOf(asked, free)]
  return before !== undefined && now !== undefined && now.fixed === before.fixed && now.free.every(isPlain)
}
