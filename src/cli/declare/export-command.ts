import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeText } from '../../core/safe-text.ts'
import { noteScope } from '../program/command-scope.ts'
import type { Context } from '../context/context.ts'

type Options = { org?: string; schema?: boolean }

const showSchema = async (context: Context): Promise<void> => {
  const { documentSchema } = await import('./schema-text.ts')
  context.io.stdout.write(documentSchema())
}

/** `svc export`: an organization as a file that `svc diff` and `svc apply` read. */
export const registerExport = (command: Command, context: Context): void => {
  command
    .usage('--org ORG [flags]')
    .option('--org <org>', 'Organization, id or slug')
    .option('--schema', 'Print the JSON Schema of the file, for editors')
    .addHelpText(
      'after',
      '\nExamples:\n  svc export --org acme > org.yaml\n  svc export --schema > svc.schema.json',
    )

  noteScope(command, 'read')
  command.action(async () => {
    const options = command.opts<Options>()
    if (options.schema) return showSchema(context)
    const { io, globals } = context
    const picks = globals.json !== undefined || globals.jq !== undefined || globals.envelope === true
    if (picks || (globals.output ?? 'yaml') !== 'yaml')
      throw usageError('svc export writes only YAML', 'svc export --org acme > org.yaml')
    const org = options.org ?? (await context.settings()).org?.value
    if (!org) throw usageError('Missing --org', 'svc export --org acme > org.yaml')
    if (!/^[\w-]{1,60}$/.test(org)) throw usageError(`"${org}" is not a valid id or slug`, 'svc org list')

    const [{ readState }, { exportText }, { sections }] = await Promise.all([
      import('./read-state.ts'),
      import('./export-text.ts'),
      import('./state.ts'),
    ])
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
