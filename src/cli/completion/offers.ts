import type { Candidate, ValueKind } from './candidates.ts'
import type { CommandNode, FlagNode } from '../program/command-node.ts'
import { topics } from '../program/help-topics.ts'
import { formats } from '../terminal/output.ts'
import { scripts } from './scripts.ts'

/** A list of values, file names, or values that have to be looked up. */
type Choice = { list: Candidate[] } | { files: true } | { kind: ValueKind }

const nothing: Choice = { list: [] }
const listOf = (values: readonly string[]): Choice => ({
  list: values.map((value) => ({ value, about: '' })),
})

const help = { flags: '-h, --help', about: 'Show help' }

const kindOfFlag: Record<string, ValueKind> = {
  '--org': 'org',
  '--user': 'user',
  '--profile': 'profile',
}

const namesOf = ({ flags }: Pick<FlagNode, 'flags'>): string[] =>
  flags.split(/[ ,]/).filter((word) => word.startsWith('-'))

const valuesOfFlag = (flag: FlagNode): Choice => {
  const names = namesOf(flag)
  const kind = names.map((name) => kindOfFlag[name]).find((found) => found !== undefined)
  if (kind) return { kind }
  if (names.includes('--output')) return listOf(formats)
  if (flag.choices.length > 0) return listOf(flag.choices)
  return /<(?:file|dir)>/.test(flag.flags) ? { files: true } : nothing
}

const kindOfId: Record<string, ValueKind> = {
  org: 'org',
  'user-id': 'user',
  'timeslot-id': 'timeslot',
  'geofence-id': 'geofence',
  'key-id': 'key',
  'auth-code-id': 'auth-code',
  'webhook-id': 'webhook',
  'machine-id': 'machine',
}

const kindOfArgument = (place: string, argument: string | undefined): ValueKind | undefined => {
  const [group, verb] = place.split(' ')
  const kind = argument === undefined ? undefined : kindOfId[argument]
  if (kind) return kind
  if (argument === 'request-id' && group === 'approve') return 'request'
  if ((group === 'group' || group === 'rule') && argument === 'name' && verb !== 'create') return group
  const named = group === 'profile' && (argument === 'name' || verb === 'set')
  return named && verb !== 'create' ? 'profile' : undefined
}

const argumentWords: Record<string, readonly string[]> = {
  completion: Object.keys(scripts),
  help: Object.keys(topics),
}

const valuesOfArgument = (place: string, { args, choices }: CommandNode): Choice => {
  const words = argumentWords[place] ?? choices
  if (words.length > 0) return listOf(words)
  if (args[0] === 'file') return { files: true }
  const kind = kindOfArgument(place, args[0])
  return kind ? { kind } : nothing
}

/** Finds the command that the words name, its arguments so far, and a flag that still needs its value. */
const follow = (tree: CommandNode, words: readonly string[]) => {
  let node = tree
  const place: string[] = []
  const taken: string[] = []
  let open: FlagNode | undefined
  const flagNamed = (name: string) =>
    [...node.flags, ...tree.flags].find((flag) => flag.takesValue && namesOf(flag).includes(name))
  for (const word of words) {
    // bash passes the = of --output=json as a word of its own.
    if (word === '=') continue
    if (open) open = undefined
    else if (word.startsWith('-')) open = flagNamed(word)
    else {
      const child = node.commands.find(({ name }) => name === word)
      if (child) {
        node = child
        place.push(word)
      } else taken.push(word)
    }
  }
  return { node, place: place.join(' '), taken, open, flagNamed }
}

/**
 * What can follow `words`, where `current` has been typed of the next word. `lookUp` finds the values that are not in the
 * command tree.
 */
export const offers = async (
  tree: CommandNode,
  { words, current }: { words: readonly string[]; current: string },
  lookUp: (kind: ValueKind) => Promise<Candidate[]>,
): Promise<{ candidates: Candidate[]; files: boolean }> => {
  const { node, place, taken, open, flagNamed } = follow(tree, words)
  const [, name, part] = /^(--[^=]+)=(.*)$/s.exec(current) ?? []
  const flag = open ?? (name === undefined ? undefined : flagNamed(name))
  const prefix = !open && flag ? `${name}=` : ''
  const start = prefix ? part! : current === '=' ? '' : current
  const isMany = node.repeats && node.args.length === 1

  const choose = (): Choice => {
    if (flag) return valuesOfFlag(flag)
    if (start.startsWith('-')) {
      const all = [...(node === tree ? [] : node.flags), ...tree.flags, help]
      return { list: all.flatMap((one) => namesOf(one).map((value) => ({ value, about: one.about }))) }
    }
    if (node.commands.length > 0)
      return { list: node.commands.map(({ name: value, about }) => ({ value, about })) }
    return taken.length > 0 && !isMany ? nothing : valuesOfArgument(place, node)
  }
  const choice = choose()
  if ('files' in choice) return { candidates: [], files: true }
  const found = 'kind' in choice ? await lookUp(choice.kind) : choice.list
  const candidates = found
    .filter(({ value }) => value.startsWith(start) && (flag !== undefined || !taken.includes(value)))
    .map(({ value, about }) => ({ value: prefix + value, about }))
  return { candidates, files: false }
}
