import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeText } from '../../core/safe-text.ts'
import { noteScope } from '../program/command-node.ts'
import type { Context } from '../context/context.ts'
import { requireOrg } from '../context/organization.ts'
import { addReasonFlag } from '../operation/flags.ts'
import { addOrgFlag } from '../operation/need.ts'
import { pickingFlag } from '../terminal/output.ts'
import type { Comparing } from './comparison.ts'
import type { ApplyOptions } from './apply.ts'

const addFile = (command: Command): Command =>
  command.usage('<file> [flags]').argument('[file]', 'YAML or JSON; - for standard input')

/** `svc diff FILE`: shows what `svc apply` with the same flags would do. Exits with 10 if there are changes. */
export const registerDiff = (command: Command, context: Context): void => {
  addFile(command)
    .option('--prune', 'Include rows that are not in the file, which `svc apply --prune` would delete')
    .addHelpText('after', '\nExample:\n  svc diff org.yaml --prune')

  noteScope(command, 'read')
  command.action(async () => {
    // Rejects a wrong output format before the first request.
    await context.output()
    const { compare } = await import('./comparison.ts')
    const { showPlan } = await import('./plan-output.ts')
    const { plan } = await compare(command.args[0], command.opts<Comparing>(), context)
    await showPlan(plan, 'Compared', context)
    context.exitCode = plan.steps.length > 0 ? exitCode('partial') : 0
  })
}

/** `svc apply FILE`: shows the changes, and makes the service match the file. */
export const registerApply = (command: Command, context: Context): void => {
  addFile(command)
    .option(
      '--prune',
      'Delete rows that are not in the file, in its sections only; users are removed, not deleted',
    )
    .option('-y, --yes', 'Do not ask for confirmation')
    .option('--confirm <slug>', 'In a protected profile, instead of --yes: the slug of the organization')
    .option('--dry-run', 'Show the plan and change nothing')
    .addHelpText('after', '\nExamples:\n  svc apply org.yaml\n  svc apply org.yaml --prune --dry-run')

  addReasonFlag(command)
  noteScope(command, 'read, people and rules')
  command.action(async () => {
    const { runApply } = await import('./apply.ts')
    await runApply(command.args[0], command.opts<ApplyOptions>(), context)
  })
}

/** `svc export`: an organization as a file that `svc diff` and `svc apply` read. */
export const registerExport = (command: Command, context: Context): void => {
  addOrgFlag(command.usage('--org ORG [flags]'), '; not with --schema')
    .option('--schema', 'Print the JSON Schema of the file, for editors')
    .addHelpText(
      'after',
      '\nExamples:\n  svc export --org acme > org.yaml\n  svc export --schema > svc.schema.json',
    )

  noteScope(command, 'read')
  command.action(async () => {
    const options = command.opts<{ org?: string; schema?: boolean }>()
    const { io, globals } = context
    if (options.schema) {
      const { documentSchema } = await import('./schema-text.ts')
      return io.stdout.write(documentSchema())
    }
    if (pickingFlag(globals) !== undefined || (globals.output ?? 'yaml') !== 'yaml')
      throw usageError(
        'svc export writes only YAML',
        await context.command!.again({ without: ['--output', '--json', '--jq'] }),
      )
    const org = await requireOrg(options.org, context)
    if (!/^[\w-]{1,60}$/.test(org)) throw usageError(`"${org}" is not a valid id or slug`, 'svc org list')

    const { readState } = await import('./read-state.ts')
    const { exportText } = await import('./export-text.ts')
    const { sections } = await import('./state.ts')
    const output = await context.output()
    const state = await readState(await context.client(), org, { sections, rules: true }, io.signal)
    if (state.org_id === undefined)
      throw new SvcError('notFound', 'not_found', `Organization "${org}" not found`, { hint: 'svc org list' })
    const text = exportText(state)
    io.stdout.write(io.stdout.isTTY ? safeText(text) : text)
    for (const { section, key, ids } of state.ambiguous)
      output.warn(`Skipped: ${ids.length} ${section} have the name "${key}": ids ${ids.join(', ')}`)
    if (state.ambiguous.length > 0) context.exitCode = exitCode('partial')
  })
}
