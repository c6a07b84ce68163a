import type { CommandNode, FlagNode } from '../program/command-node.ts'
import { topics } from '../program/help-topics.ts'
import { formats } from '../terminal/output.ts'

/** Values that only the service, the profile file or the table knows. `field` is a list with commas. */
export const kinds = ['org', 'user', 'geofence', 'timeslot', 'request', 'profile', 'field'] as const
export type ValueKind = (typeof kinds)[number]

/** A value that is offered, and what it is. */
export type Candidate = { value: string; about: string }

const byFlag: Record<string, ValueKind> = {
  '--org': 'org',
  '--user': 'user',
  '--profile': 'profile',
  '--json': 'field',
}

/** What a flag takes, by its names; undefined where that is no list that can be looked up. */
export const kindOfFlag = (names: readonly string[]): ValueKind | undefined =>
  names.map((name) => byFlag[name]).find((kind) => kind !== undefined)

/** What the first argument of the command at this place is. */
export const kindOfArgument = (at: string, argument: string | undefined): ValueKind | undefined => {
  const [group, verb] = at.split(' ')
  if (argument === 'org') return 'org'
  if (argument === 'user-id') return 'user'
  if (argument === 'timeslot-id') return 'timeslot'
  if (argument === 'geofence-id') return 'geofence'
  if (argument === 'request-id' && group === 'approve') return 'request'
  const named = group === 'profile' && (argument === 'name' || verb === 'set')
  return named && verb !== 'create' ? 'profile' : undefined
}

export type FlagWords = {
  /** `-o`, `--output`. */
  names: string[]
  about: string
  value: 'none' | 'text' | 'file' | 'words'
  choices: string[]
  /** What its value is, where the service or the profile file knows what there is. */
  kind?: ValueKind
}

/** A place in the command tree: `geofence create`; the empty text is `svc` itself. */
export type Place = {
  at: string
  about: string
  commands: { name: string; about: string }[]
  /** Its own; the flags that every command takes are `CompletionTree.flags`. */
  flags: FlagWords[]
  /** What its first argument can be, where that is a short list. */
  words: readonly string[]
  /** Its first argument is a file. */
  file: boolean
  /** What its first argument is, as `FlagWords.kind`. */
  kind?: ValueKind
  /** Its first argument may be given several times, so that more are offered once one is there. */
  many: boolean
}

export type CompletionTree = {
  places: Place[]
  flags: FlagWords[]
  /** Names of flags that take the next word as their value. */
  valued: string[]
}

// What the tree does not say of itself.
const argumentWords: Record<string, readonly string[]> = {
  completion: ['bash', 'zsh', 'fish', 'powershell'],
  help: Object.keys(topics),
}

const help: FlagWords = { names: ['-h', '--help'], about: 'Show help', value: 'none', choices: [] }

const flagWords = ({ flags, about, takesValue, choices }: FlagNode): FlagWords => {
  const names = flags.split(/[ ,]/).filter((word) => word.startsWith('-'))
  const words = names.includes('--output') ? [...formats] : choices
  const file = /<(?:file|dir)>/.test(flags)
  const value = words.length > 0 ? 'words' : file ? 'file' : 'text'
  return takesValue
    ? { names, about, value, choices: words, kind: kindOfFlag(names) }
    : { names, about, value: 'none', choices: [] }
}

const placesOf = (node: CommandNode, above: string[]): Place[] => [
  {
    at: above.join(' '),
    about: node.about,
    commands: node.commands.map(({ name, about }) => ({ name, about })),
    flags: above.length === 0 ? [] : node.flags.map(flagWords),
    words: argumentWords[above.join(' ')] ?? [],
    file: node.args[0] === 'file',
    kind: kindOfArgument(above.join(' '), node.args[0]),
    many: node.repeats && node.args.length === 1,
  },
  ...node.commands.flatMap((child) => placesOf(child, [...above, child.name])),
]

export const completionTree = (root: CommandNode): CompletionTree => {
  const places = placesOf(root, [])
  const flags = [...root.flags.map(flagWords), help]
  const all = [...flags, ...places.flatMap((place) => place.flags)]
  const valued = new Set(all.filter(({ value }) => value !== 'none').flatMap(({ names }) => names))
  return { places, flags, valued: [...valued] }
}

export const nameWords = (flags: FlagWords[]): string => flags.flatMap(({ names }) => names).join(' ')
