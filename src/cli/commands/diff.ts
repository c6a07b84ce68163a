import type { Command } from 'commander'
import { exitCode } from '../../core/exit-codes.ts'
import type { Context } from '../context.ts'
import type { Comparing } from '../declare/comparison.ts'

const collect = (value: string, before: string[] = []): string[] => [...before, value]

/** The flags that say what is compared. */
export const addComparing = (command: Command): Command =>
  command
    .option('-f, --file <file>', 'the file, YAML or JSON; - is standard input')
    .option(
      '--target <what>',
      'only this: users, geofences/HQ, users/+12025550101; may be given again',
      collect,
    )

/** `svc diff -f FILE`: what `svc apply` with the same flags would do. Exits 10 when that is something. */
export const registerDiff = (command: Command, context: Context): void => {
  addComparing(command)
    .option('--prune', 'what the file lacks counts too, as `svc apply --prune` would delete it')
    .usage('-f FILE [flags]')
    .addHelpText('after', '\nExample:\n  svc diff -f org.yaml --prune')

  command.action(async () => {
    const output = await context.output()
    const [{ compare }, { isForPeople, planFor, planPayload }] = await Promise.all([
      import('../declare/comparison.ts'),
      import('../declare/showing.ts'),
    ])
    const { plan } = await compare(command.opts<Comparing>(), 'diff', context)
    if (isForPeople(context)) context.io.stdout.write(planFor(plan, context, 'stdout'))
    else await output.show({ status: 'success', message: 'Compared', data: planPayload(plan, context) })
    context.exitCode = plan.steps.length > 0 ? exitCode('partial') : 0
  })
}
