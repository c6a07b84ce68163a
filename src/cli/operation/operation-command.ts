import type { Command } from 'commander'
import { argsOf, argumentName, fieldsOf } from '../../contract/describe.ts'
import { asksFirst, type Field, type Operation, type Operations } from '../../contract/operation.ts'
import { neededScope } from '../../contract/scopes.ts'
import { usageError } from '../../core/errors.ts'
import { addBodyFlags } from './body-fields.ts'
import { noteScope } from '../program/command-node.ts'
import type { Context } from '../context/context.ts'
import { addFlag, addReasonFlag, optionKey, type Typed } from './flags.ts'
import { needFor } from './need.ts'
import { isPaged } from './list-rows.ts'
import type { Extras } from './run-operation.ts'
import { isOfTable } from '../terminal/output.ts'

type Options = Record<string, unknown>

/** Adds flags, help or its own action to a command of the table. */
export type Extension = (command: Command, context: Context) => void
export type Extensions = ReadonlyMap<Operation, Extension>

/** Runs an operation of the table, and does more with its answer. */
export const withExtras =
  <O extends Operation>(
    operation: O,
    extrasOf: (context: Context, typed: Typed) => Extras<O> | Promise<Extras<O>>,
  ): Extension =>
  (command, context) =>
    void command.action(async () => {
      const { runOperation } = await import('./run-operation.ts')
      const typed = { args: command.args, options: command.opts() }
      await runOperation(operation, typed, context, (await extrasOf(context, typed)) as Extras)
    })

const byWords = (table: Operations): Map<string, Operation[]> => {
  const words = new Map<string, Operation[]>()
  for (const operation of Object.values(table))
    words.set(operation.cli, [...(words.get(operation.cli) ?? []), operation])
  return words
}

const descend = (group: Command, words: string[], hidden = false): Command =>
  words.reduce(
    (at, word, i) =>
      at.commands.find((command) => command.name() === word) ??
      at.command(word, { hidden: hidden && i === words.length - 1 }),
    group,
  )

const selector = (operation: Operation): Field =>
  fieldsOf(operation).find((field) => field.name === operation.select)!

/** Lists the meanings of a flag's values in the help, if the table has them. */
const addMeanings = (command: Command, { flag, choices, meta: { meanings } }: Field): void => {
  if (!meanings) return
  const width = Math.max(...choices.map((choice) => choice.length))
  const lines = choices.map((choice) => `  ${choice.padEnd(width)}  ${meanings[choice] ?? ''}`)
  command.addHelpText('after', `\nValues of --${flag}:\n${lines.join('\n')}`)
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

/** Adds the commands of a group from its table; skips operations of other groups in it. */
export const addOperations = (
  group: Command,
  table: Operations,
  context: Context,
  { words, extensions }: { words?: readonly string[] | undefined; extensions?: Extensions | undefined } = {},
): void => {
  for (const [cli, candidates] of byWords(table)) {
    if (!cli.startsWith(`${group.name()} `)) continue
    const first = candidates[0]!
    const command = descend(group, cli.split(' ').slice(1), first.hidden)
    const positional = argsOf(first)
    const names = positional.map((name) =>
      argumentName(fieldsOf(first).find((field) => field.name === name)!),
    )
    command
      .description(joinedSummary(candidates.map(({ summary }) => summary)))
      .usage([...names.map((name) => `<${name}>`), '[flags]'].join(' '))
    for (const name of names) command.argument(`[${name}]`)
    if (words && !cli.split(' ').every((word) => words.includes(word))) continue

    const flags = new Map<string, Field>()
    for (const operation of candidates)
      for (const field of fieldsOf(operation))
        if (isFlag(field, operation) && !flags.has(field.flag)) flags.set(field.flag, field)
    for (const field of flags.values()) addFlag(command, field, needFor(candidates, field))

    if (candidates.some(isPaged)) command.option('--all', 'Show every row')
    // A third-party service may search by other fields, and a long body is easier to write as a file.
    if (first.method !== 'GET' && (first.effect === 'read' || flags.size > mostTyped)) addBodyFlags(command)
    if (first.effect !== 'read') command.option('--dry-run', 'Print the request and send nothing')
    if (['write', 'delete'].includes(first.effect) && !flags.has('reason')) addReasonFlag(command)
    if (asksFirst(first)) command.option('-y, --yes', 'Do not ask for confirmation')
    if (first.effect === 'delete')
      command.option(
        '--confirm <name>',
        'In a protected profile, instead of --yes: the name of whatever you delete',
      )
    for (const field of flags.values()) addMeanings(command, field)
    const needed = new Set(candidates.flatMap((operation) => neededScope(operation) ?? []))
    if (needed.size > 0) noteScope(command, [...needed].join('; '))
    command.addHelpText(
      'after',
      `\nExample:\n${candidates.map((operation) => `  svc ${cli} ${operation.example ?? ''}`.trimEnd()).join('\n')}`,
    )

    isOfTable(command).action(async () => {
      const options = command.opts<Options>()
      const operation = choose(candidates, options)
      const { runOperation } = await import('./run-operation.ts')
      await runOperation(operation, { args: command.args, options }, context)
    })
    extensions?.get(first)?.(command, context)
  }
}
