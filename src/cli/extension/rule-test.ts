import { recordIn } from '../../client/answer-data.ts'
import type { Data, Input } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import { usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import type { Context } from '../context/context.ts'
import { findOrg, requireOrg } from '../context/organization.ts'
import { many } from '../operation/flags.ts'
import { orgFlag } from '../operation/need.ts'
import { defineCommand } from '../program/define-command.ts'
import { isForPeople, wantsColour } from '../terminal/output.ts'
import type { Tested, TestedOptions } from './rule-tested.ts'

const operation = rule.testRule
const needed = [
  'rules',
  'excepted',
  'lines',
  'completable',
  'factors',
  'reasons',
  'near_misses',
  'ways_around',
]

type Options = TestedOptions & { org?: string; key?: string }

/** The ask key of the profile requests everything but changes by svc itself; undefined for the key of the call. */
const keyThatAsks = async ({ type }: Tested, context: Context): Promise<string | undefined> => {
  if (type === 'request' || !(await context.settings()).askKey) return undefined
  const { requestingKey } = await import('../approve/separation.ts')
  return (await requestingKey(context))?.id
}

const runTest = async (args: readonly string[], options: Options, context: Context): Promise<void> => {
  // Rejects a wrong output format before the first request.
  const output = await context.output()
  const { checkShown } = await import('../operation/run-operation.ts')
  const { readTested } = await import('./rule-tested.ts')
  await checkShown(operation, context)
  const tested = await readTested(args, options, context)
  const { id, slug } = await findOrg(await requireOrg(options.org, context), context)
  const key = options.key ?? (await keyThatAsks(tested, context))
  const input = { org_id: id, ...tested, ...(key !== undefined && { key }) }
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
export const registerRuleTest = defineCommand<Options>({
  name: 'test',
  summary: operation.summary,
  usage: '[flags] [-- <command> [args...]]',
  args: ['[command...]'],
  options: {
    ...orgFlag(),
    '--cwd <folder>': 'Of a command: its folder; default: the current one',
    '--request <command>': 'A change by svc itself, such as "user delete"',
    '--file <name>': 'A file',
    '--tool <name...>': 'A call of a tool: the server, then the tool (can be repeated)',
    '--argument <name=value>': many(
      'Of a call of a tool: an argument, as text, or as JSON such as 5 or true',
    ),
    '--text <text>': 'A request without data: all of its text',
    '--key <key-id>': 'The key that asks; default: the ask key, for --request the key in use',
  },
  note: 'Nobody is asked. Exits with 0 if no rule matches or the request can be approved now, and with 1 if it cannot.',
  examples: [
    'svc rule test --org acme -- terraform -chdir=prod destroy',
    'svc rule test --org acme --request "user delete"',
    'svc rule test --org acme --tool github merge_pull_request --argument branch=main',
  ],
  scope: 'read',
  action: async ({ args, options }, context) => {
    if (args.length > 0 && args.every((one) => one.trim() === ''))
      throw usageError(
        'The command must not be empty',
        'svc rule test --org acme -- terraform -chdir=prod destroy',
      )
    await runTest(args, options, context)
  },
})
