import type { Command } from 'commander'
import { argsOf, argumentName, fieldsOf } from '../../contract/describe.ts'
import { asksFirst, type Field, type Operation, type Operations } from '../../contract/operation.ts'
import { neededScope } from '../../contract/scopes.ts'
import { usageError } from '../../core/errors.ts'
import { bodyFlags } from './body-fields.ts'
import { defineCommand, type Definition, type Typed, type Register } from '../program/define-command.ts'
import type { Flags } from '../program/command-node.ts'
import type { Context } from '../context/context.ts'
import { flagsFor, optionKey, reasonFlag } from './flags.ts'
import { needFor } from './need.ts'
import { isPaged } from './list-rows.ts'
import type { Extras } from './run-operation.ts'

type Options = Record<string, unknown>

/** What a command of the table does instead, with more flags and help. */
export type Extension = Pick<Definition, 'options' | 'note' | 'examples' | 'action'>
export type Extensions = ReadonlyMap<Operation, Extension>

type ExtrasOf<O extends Operation> = (context: Context, typed: Typed) => Extras<O> | Promise<Extras<O>>

/** Runs an operation of the table, and does more with its answer. */
export const withExtras = <O extends Operation>(operation: O, extrasOf: ExtrasOf<O>): Extension => ({
  action: async (typed, context) => {
    const { runOperation } = await import('./run-operation.ts')
    await runOperation(operation, typed, context, (await extrasOf(context, typed)) as Extras)
  },
})

/** Does more with the answers of these operations. */
export const extended = <O extends Operation>(
  operations: readonly O[],
  extrasOf: ExtrasOf<O>,
  more?: Omit<Extension, 'action'>,
): Map<Operation, Extension> =>
  new Map(operations.map((one) => [one, { ...more, ...withExtras(one, extrasOf) }]))

const byWords = (table: Operations): Map<string, Operation[]> => {
  const words = new Map<string, Operation[]>()
  for (const operation of Object.values(table))
    words.set(operation.cli, [...(words.get(operation.cli) ?? []), operation])
  return words
}

const descend = (group: Command, words: readonly string[]): Command =>
  words.reduce(
    (at, word) => at.commands.find((command) => command.name() === word) ?? at.command(word),
    group,
  )

const selector = (operation: Operation): Field =>
  fieldsOf(operation).find((field) => field.name === operation.select)!

/** The meanings of a flag's values for the help, if the table has them. */
const meaningsOf = ({ flag, choices, meta: { meanings } }: Field): string[] => {
  if (!meanings) return []
  const width = Math.max(...choices.map((choice) => choice.length))
  const lines = choices.map((choice) => `  ${choice.padEnd(width)}  ${meanings[choice] ?? ''}`)
  return [`Values of --${flag}:\n${lines.join('\n')}`]
}

/** Chooses between operations with the same words: the one whose selecting flag was typed. */
const choose = (candidates: Operation[], options: Options): Operation => {
  const plain = candidates.find((operation) => !operation.select)
  const selected = candidates.find(
    (operation) => operation.select && options[optionKey(selector(operation).flag)] !== undefined,
  )
  const chosen = selected ?? plain ?? candidates[0]!
  const known = new Set(fieldsOf(chosen).map((field) => field.flag))
  const foreign = candidates
    .flatMap(fieldsOf)
    .find((field) => !known.has(field.flag) && options[optionKey(field.flag)] !== undefined)
  if (foreign) {
    const by = selected ? `--${selector(selected).flag}` : `svc ${chosen.cli}`
    throw usageError(`--${foreign.flag} cannot be combined with ${by}`, `svc ${chosen.cli} --help`)
  }
  return chosen
}

/** One line for operations with the same words: `List the geofences of an organization or a user`. */
const joinedSummary = ([first = '', ...others]: string[]): string => {
  const start = first.slice(0, first.lastIndexOf(' of ') + ' of '.length)
  return start !== '' && others.every((other) => other.startsWith(start))
    ? [first, ...others.map((other) => other.slice(start.length))].join(' or ')
    : [first, ...others].join('; ')
}

/** More flags than these are easier to write as a file. */
const mostTyped = 12

/** The flags of the policy are in one place: the update of an organization. */
const isFlag = ({ name, path }: Field, operation: Operation): boolean =>
  !argsOf(operation).includes(name) && (path[0] !== 'policy' || operation.cli === 'org update')

/** The flags of a command, and what its help shows below them. */
const detailsOf = (cli: string, candidates: readonly Operation[], more?: Extension) => {
  const { effect, method } = candidates[0]!
  const byFlag = new Map<string, Field>()
  for (const operation of candidates)
    for (const field of fieldsOf(operation))
      if (isFlag(field, operation) && !byFlag.has(field.flag)) byFlag.set(field.flag, field)
  const fields = [...byFlag.values()]
  const isLarge = effect === 'read' || fields.length > mostTyped
  const options: Flags = {
    ...Object.fromEntries(fields.flatMap((field) => flagsFor(field, needFor(candidates, field)))),
    ...(candidates.some(isPaged) && { '--all': 'Show every row' }),
    // A third-party service may search by other fields, and a long body is easier to write as a file.
    ...(method !== 'GET' && isLarge && bodyFlags),
    ...(effect !== 'read' && { '--dry-run': 'Print the request and send nothing' }),
    ...(['write', 'delete'].includes(effect) && !byFlag.has('reason') && reasonFlag),
    ...(asksFirst(candidates[0]!) && { '-y, --yes': 'Do not ask for confirmation' }),
    ...(effect === 'delete' && {
      '--confirm <name>': 'In a protected profile, instead of --yes: the name of whatever you delete',
    }),
    ...more?.options,
  }
  const notes = [...fields.flatMap(meaningsOf), ...(more?.note === undefined ? [] : [more.note])]
  const examples = candidates.map(({ example = '' }) => `svc ${cli} ${example}`.trimEnd())
  const scopes = new Set(candidates.flatMap((operation) => neededScope(operation) ?? []))
  return {
    options,
    note: notes.length > 0 ? notes.join('\n\n') : undefined,
    examples: [...examples, ...(more?.examples ?? [])],
    scope: scopes.size > 0 ? [...scopes].join('; ') : undefined,
  }
}

/** Defines the commands of a group from its table; skips operations of other groups in it. */
export const defineOperations =
  (table: Operations, extensions?: Extensions): Register =>
  async (group, context, program) => {
    for (const [cli, candidates] of byWords(table)) {
      const words = cli.split(' ')
      if (words[0] !== group.name()) continue
      const first = candidates[0]!
      const names = argsOf(first).map((name) =>
        argumentName(fieldsOf(first).find((field) => field.name === name)!),
      )
      const extension = extensions?.get(first)
      const isTyped = words.every((word) => program.words?.includes(word) ?? true)
      const define = defineCommand({
        name: words.at(-1)!,
        hidden: first.hidden,
        summary: joinedSummary(candidates.map(({ summary }) => summary)),
        usage: [...names.map((name) => `<${name}>`), '[flags]'].join(' '),
        args: names.map((name) => `[${name}]`),
        ...(isTyped && detailsOf(cli, candidates, extension)),
        hasId: true,
        action:
          extension?.action ??
          (async (typed) => {
            const operation = choose(candidates, typed.options)
            const { runOperation } = await import('./run-operation.ts')
            await runOperation(operation, typed, context)
          }),
      })
      await define(descend(group, words.slice(1, -1)), context, program)
    }
  }
