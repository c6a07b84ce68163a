import { canonicalData, type Subject } from './subject.ts'

// A grant is for what the person saw, again: only the parts that it names may differ, and only by one plain word.

/** No option, no path that leads up, nothing that a shell reads as more than a word. */
const plainWord = /^[\w@%=,./][\w@%=,./:+-]*$/

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' && plainWord.test(value) && !value.includes('..')

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
  const { arguments: values, definition, ...rest } = subject.data
  const given = free.filter((name) => Object.hasOwn(values, name))
  const left = { ...values, ...Object.fromEntries(given.map((name) => [name, null])) }
  const fixed = { ...rest, ...(definition && { definition: definition.sha256 }), arguments: left }
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
