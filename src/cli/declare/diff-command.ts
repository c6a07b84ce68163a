import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { shellWord } from '../../core/shell-word.ts'
import { noteScope } from '../program/command-scope.ts'
import type { Context } from '../context/context.ts'
import type { Comparing } from './comparison.ts'

const collect = (value: string, before: string[] = []): string[] => [...before, value]

/** The file and the flags that say what is compared. */
export const addComparing = (command: Command): Command =>
  command
    .usage('<file> [flags]')
    .argument('[file]')
    .option('-f, --file <file>', 'The file, YAML or JSON, as a flag; - for standard input')
    .option(
      '--target <what>',
      'Part to compare: users, geofences/HQ, users/+12025550101; can be repeated',
      collect,
    )

/** What was typed, wherever the file stood. */
export const comparingOptions = <T extends Comparing>(command: Command): T => {
  const options = command.opts<T>()
  const [file] = command.args
  if (file === undefined) return options
  if (options.file !== undefined && options.file !== file)
    throw usageError(
      `Two files were given: ${file} and -f ${options.file}`,
      `svc ${command.name()} ${shellWord(file)}`,
    )
  return { ...options, file }
}

/** `svc diff FILE`: what `svc apply` with the same flags would do. Exits 10 when that is something. */
export const registerDiff = (command: Command, context: Context): void => {
  addComparing(command)
    .option('--prune', 'Include what is not in the file, as `svc apply --prune` would delete it')
    .addHelpText('after', '\nExample:\n  svc diff org.yaml --prune')

  noteScope(command, 'read')
  command.action(async () => {
    const output = await context.output()
    const [{ compare }, { isForPeople, planColumns, planFor, planPayload }] = await Promise.all([
      import('./comparison.ts'),
      import('./plan-output.ts'),
    ])
    const { plan } = await compare(comparingOptions<Comparing>(command), 'diff', context)
    if (isForPeople(context)) context.io.stdout.write(planFor(plan, context, 'stdout'))
    else
      await output.show(
        { status: 'success', message: 'Compared', data: planPayload(plan, context) },
        { known: planColumns },
      )
    context.exitCode = plan.steps.length > 0 ? exitCode('partial') : 0
  })
}
