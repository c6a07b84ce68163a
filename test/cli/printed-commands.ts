import { CommanderError, type Command } from 'commander'
import { SvcError } from '../../src/core/errors.ts'
import { unknownValue } from '../source-tree.ts'
import { memoryIo } from './memory-io.ts'
import { commandTree, groups, openContext } from '../../src/cli/main.ts'

// Finds the commands in a text that svc prints, and checks them against the command tree. Nothing is run.

/** The words of a command line that starts here, up to the end of the command or of the sentence. */
const wordsFrom = (text: string): string[] => {
  const words: string[] = []
  const line = /^[^\n]*?(?= {2,}|\n| [|;&#<>](?= )| \(|`|$)/.exec(text)![0]
  for (const [raw] of line.matchAll(/(?:'[^']*'|"[^"]*"|\$\([^)]*\)|[^\s'"])+/g)) {
    const [, word, end] = /^(.*?)([.,;:)…]*)$/s.exec(raw)!
    if (word !== '') words.push(word!.replaceAll(/^(['"])(.*)\1$/gs, '$2'))
    if (end !== '') break
  }
  return words
}

export type Mention = { command: string; words: string[] }

/** Each `svc …` in a text. */
export const mentionsIn = (text: string): Mention[] =>
  [...text.matchAll(/(?<![\w./@-])svc (?=[a-z\uFFFC])/g)].map(({ index }) => {
    const typed = wordsFrom(text.slice(index + 4))
    // The name of this flag is known only at run time, so the check ends before it.
    const unknownFlag = typed.indexOf(`--${unknownValue}`)
    const words = unknownFlag < 0 ? typed : typed.slice(0, unknownFlag)
    return { command: `svc ${words.join(' ')}`.replaceAll(unknownValue, '…'), words }
  })

const disarm = (command: Command): void => {
  // Commander decides by the handler whether a group can be called itself.
  if ((command as unknown as { _actionHandler: unknown })._actionHandler) command.action(() => undefined)
  command.commands.forEach(disarm)
}

const makeTree = async (words?: readonly string[]): Promise<Command> => {
  const context = openContext(memoryIo())
  const program = await commandTree(context, words)
  disarm(program)
  // The options of the parse in progress.
  Object.defineProperty(context, 'globals', { get: () => program.opts() })
  return program
}
let tree: Promise<Command> | undefined
const parsed = new Map<string, Promise<CommanderError | SvcError | undefined>>()

const parse = (words: readonly string[]): Promise<CommanderError | SvcError | undefined> => {
  const key = JSON.stringify(words)
  if (!parsed.has(key)) parsed.set(key, parseAnew(words))
  return parsed.get(key)!
}

const parseAnew = async (words: readonly string[]): Promise<CommanderError | SvcError | undefined> => {
  // A tree remembers the flags that were typed.
  const program = await makeTree(words)
  try {
    await program.parseAsync([...words], { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? undefined : error
    if (error instanceof SvcError) return error
    throw error
  }
}

/** The names of all commands and groups. */
const namesIn = (command: Command): string[] =>
  command.commands.flatMap((one) => [one.name(), ...namesIn(one)])

/** Whether the program name is the subject of a sentence: `svc asks a person`. */
const isProse = async ([first, second]: readonly string[]): Promise<boolean> => {
  const isName = (word: string | undefined): boolean => word !== undefined && names.includes(word)
  const names = namesIn(await (tree ??= makeTree()))
  return !isName(first) && !isName(second) && !second?.startsWith('-')
}

/**
 * Why the command tree rejects these words, or undefined. The sentence may continue after a command, so extra words are
 * ignored. A flag at the end needs no value, because it may only be named.
 */
export const refusalOf = async ({ words }: Mention): Promise<string | undefined> => {
  const [first] = words
  if (first === undefined || first.includes(unknownValue) || (await isProse(words))) return undefined
  if (!Object.hasOwn(groups, first)) return `there is no command "${first}"`
  const left = [...words]
  for (;;) {
    const refusal = await parse(left)
    if (refusal === undefined || refusal.code === 'commander.missingArgument') return undefined
    const isNamed = refusal.code === 'commander.optionMissingArgument' && left.at(-1)!.startsWith('-')
    const isOpen = refusal.code === 'commander.unknownCommand' && refusal.message.includes(unknownValue)
    if (isNamed || isOpen) return undefined
    if (refusal.code !== 'commander.excessArguments') return refusal.message
    left.pop()
  }
}
