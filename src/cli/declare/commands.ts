import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeText } from '../../core/safe-text.ts'
import { defineCommand } from '../program/define-command.ts'
import { requireOrg } from '../context/organization.ts'
import { reasonFlag } from '../operation/flags.ts'
import { orgFlag } from '../operation/need.ts'
import { pickingFlag } from '../terminal/output.ts'
import type { Comparing } from './comparison.ts'
import type { ApplyOptions } from './apply.ts'

const file = { usage: '<file> [flags]', args: ['[file]'] }

/** `svc diff FILE`: shows what `svc apply` with the same flags would do. Exits with 10 if there are changes. */
export const registerDiff = defineCommand<Comparing>({
  ...file,
  options: { '--prune': 'Include rows that are not in the file, which `svc apply --prune` would delete' },
  examples: ['svc diff org.yaml --prune'],
  scope: 'read',
  action: async ({ args: [source], options }, context) => {
    // Rejects a wrong output format before the first request.
    await context.output()
    const { compare } = await import('./comparison.ts')
    const { changedRules } = await import('./plan.ts')
    const { showPlan } = await import('./plan-output.ts')
    const { plan } = await compare(source, options, context)
    await showPlan(plan, 'Compared', context)
    const { warnOfRules } = await import('../operation/rule-warnings.ts')
    await warnOfRules(changedRules(plan), context)
    context.exitCode = plan.steps.length > 0 ? exitCode('partial') : 0
  },
})

/** `svc apply FILE`: shows the changes, and makes the service match the file. */
export const registerApply = defineCommand<ApplyOptions>({
  ...file,
  options: {
    '--prune': 'Delete rows that are not in the file, in its sections only; users are removed, not deleted',
    '-y, --yes': 'Do not ask for confirmation',
    '--confirm <slug>': 'In a protected profile, instead of --yes: the slug of the organization',
    '--dry-run': 'Show the plan and change nothing',
    ...reasonFlag,
  },
  examples: ['svc apply org.yaml', 'svc apply org.yaml --prune --dry-run'],
  scope: 'read, people and rules',
  action: async ({ args: [source], options }, context) =>
    (await import('./apply.ts')).runApply(source, options, context),
})

/** `svc export`: an organization as a file that `svc diff` and `svc apply` read. */
export const registerExport = defineCommand<{ org?: string; schema?: boolean }>({
  usage: '--org ORG [flags]',
  options: {
    ...orgFlag('; not with --schema'),
    '--schema': 'Print the JSON Schema of the file, for editors',
  },
  examples: ['svc export --org acme > org.yaml', 'svc export --schema > svc.schema.json'],
  scope: 'read',
  prints: ['yaml'],
  action: async ({ options }, context) => {
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
  },
})
