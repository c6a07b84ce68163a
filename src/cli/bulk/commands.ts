import type { Command } from 'commander'
import { addOrgFlag } from '../operation/need.ts'
import { noteScope } from '../program/command-node.ts'
import type { Context } from '../context/context.ts'
import { addReasonFlag } from '../operation/flags.ts'
import type { TypedImport } from './import.ts'

export const registerBulk = (group: Command, context: Context): void => {
  const imports = addOrgFlag(group.command('import'))
    .description('Import users from a file; all rows are checked before the first is sent')
    .usage('<file> [flags]')
    .argument('[file]', 'CSV; - for standard input')
    .option('--on-conflict <what>', 'How to handle users who already exist (fail|skip)')
    .option('--dry-run', 'Check the rows, print the first request and send nothing')
    .addHelpText(
      'after',
      '\nExample:\n  svc user import users.csv --org acme\n  svc user import - --org acme --on-conflict skip < users.csv',
    )
  addReasonFlag(imports)
  noteScope(imports, 'read and people')
  imports.action(async () => {
    const { runImport } = await import('./import.ts')
    await runImport(imports.args[0], imports.opts<TypedImport>(), context)
  })

  const exports = addOrgFlag(group.command('export'))
    .description('Export all active users as CSV that can be imported')
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  svc user export --org acme > users.csv')
  noteScope(exports, 'read')
  exports.action(async () => {
    const { runExport } = await import('./export.ts')
    await runExport(exports.opts<{ org?: string }>().org, context)
  })
}
