import type { Command } from 'commander'
import { recordIn } from '../../client/answer-data.ts'
import type { Data, Input } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import { usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import type { Context } from '../context/context.ts'
import { findOrg, requireOrg } from '../context/organization.ts'
import { collect } from '../operation/flags.ts'
import { addOrgFlag } from '../operation/need.ts'
import { noteScope } from '../program/command-node.ts'
import { isForPeople, wantsColour } from '../terminal/output.ts'
import type { TestedOptions } from './rule-tested.ts'

const operation = rule.testRule
const needed = ['rules', 'excepted', 'lines', 'completable', 'factors', 'reasons', 'ways_around']

type Options = TestedOptions & { org?: string; key?: string }

const runTest = async (args: readonly string[], options: Options, context: Context): Promise<void> => {
  // Rejects a wrong output format before the first request.
  const output = await context.output()
  const { checkShown } = await import('../operation/run-operation.ts')
  const { readTested } = await import('./rule-tested.ts')
  await checkShown(operation, context)
  const tested = await readTested(args, options, context)
  const { id, slug } = await findOrg(await requireOrg(options.org, context), context)
  const input = { org_id: id, ...tested, ...(options.key !== undefined && { key: options.key }) }
  const client = await context.client()
  const { asTyped } = await import('../operation/typed-names.ts')
  const sent = client.call(operation, input as Input<typeof operation>, { signal: context.io.signal })
  const { envelope } = await asTyped(operation, input, sent)
  const data: Data<typeof operation> = recordIn(operation, { envelope }, needed)
  if (isForPeople(context)) {
    const { testText } = await import('./rule-test-text.ts')
    const { io, globals } = context
    const colour = wantsColour(io.stdout, { io, globals })
    const width = io.stdout.isTTY ? io.stdout.columns : Infinity
    io.stdout.write(testText(data, { tested, org: slug ?? String(id), colour, width }))
  } else await output.show(envelope)
  if (data.rules.length > 0 && !data.completable) context.exitCode = exitCode('failed')
}

/** `svc rule test`: shows whom a request would ask, and asks nobody. */
export const registerRuleTest = (group: Command, context: Context): void => {
  const command = group
    .command('test')
    .description(operation.summary)
    .usage('[flags] [-- <command> [args...]]')
    .argument('[command...]')
  addOrgFlag(command)
  command
    .option('--cwd <folder>', 'Of a command: its folder; default: the current one')
    .option('--request <command>', 'A change by svc itself, such as "user delete"')
    .option('--file <name>', 'A file')
    .option('--tool <name...>', 'A call of a tool: the server, then the tool (can be repeated)')
    .option(
      '--argument <name=value>',
      'Of a call of a tool: an argument, as text, or as JSON such as 5 or true (can be repeated)',
      collect,
    )
    .option('--text <text>', 'A request without data: all of its text')
    .option('--key <key-id>', 'The key that asks; default: the key in use')
    .addHelpText(
      'after',
      '\nNobody is asked. Exits with 0 if no rule matches or the request can be approved now, and with 1 if it cannot.' +
        '\n\nExamples:\n  svc rule test --org acme -- terraform -chdir=prod destroy' +
        '\n  svc rule test --org acme --request "user delete"' +
        '\n  svc rule test --org acme --tool github merge_pull_request --argument branch=main',
    )
  noteScope(command, 'read')
  command.action(async () => {
    const words = [...command.args]
    if (words.length > 0 && words.every((one) => one.trim() === ''))
      throw usageError(
        'The command must not be empty',
        'svc rule test --org acme -- terraform -chdir=prod destroy',
      )
    await runTest(words, command.opts<Options>(), context)
  })
}
