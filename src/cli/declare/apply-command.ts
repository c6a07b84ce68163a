import type { Command } from 'commander'
import { noteScope } from '../program/command-scope.ts'
import type { Context } from '../context/context.ts'
import type { ApplyOptions } from './apply.ts'
import { addComparing, comparingOptions } from './diff-command.ts'

/** `svc apply FILE`: makes the service as the file says, after showing what that means. */
export const registerApply = (command: Command, context: Context): void => {
  addComparing(command)
    .option(
      '--prune',
      'Delete what is not in the file, in the sections that it has; users are removed, not deleted',
    )
    .option('--plan-out <file>', 'Write the plan to a file and change nothing')
    .option('--plan <file>', 'Apply this plan, if the organization has not changed since')
    .option('-y, --yes', 'Do not ask for confirmation')
    .option('--confirm <slug>', 'In a protected profile, instead of --yes: the slug of the organization')
    .option('--dry-run', 'Show the plan and change nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  svc apply org.yaml\n  svc apply org.yaml --prune --dry-run\n  svc apply org.yaml --prune --plan-out org.plan\n  svc apply --plan org.plan --yes',
    )

  noteScope(command, 'read, people and rules')
  command.action(async () => {
    const { runApply } = await import('./apply.ts')
    await runApply(comparingOptions<ApplyOptions>(command), context)
  })
}
