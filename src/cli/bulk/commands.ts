import type { Command } from 'commander'
import { addOrgFlag } from '../operation/need.ts'
import { noteScope } from '../program/command-node.ts'
import type { Context } from '../context/context.ts'
import type { TypedExport } from './export.ts'
import type { TypedImport } from './run-import.ts'
import type { Kind } from './kind.ts'

type Words = { many: string; formats: string; file: string; example: string; load(): Promise<Kind> }

// The words for help. The rest of a kind is loaded when it is used.
const kinds: Record<string, Words> = {
  user: {
    many: 'users',
    formats: 'csv|ndjson|json',
    file: 'users.csv',
    example: 'svc user import - --org acme --on-conflict update < users.ndjson',
    load: async () => (await import('./users.ts')).users,
  },
  geofence: {
    many: 'geofences',
    formats: 'csv|ndjson|json|geojson',
    file: 'fences.geojson',
    example: 'svc geofence import fences.csv --org acme --on-conflict skip',
    load: async () => (await import('./geofences.ts')).geofences,
  },
  timeslot: {
    many: 'time slots',
    formats: 'csv|ndjson|json',
    file: 'slots.csv',
    example: 'svc timeslot import slots.csv --org acme --dry-run',
    load: async () => (await import('./timeslots.ts')).timeslots,
  },
}

/** `import` and `export` of users, geofences or time slots, depending on the group. */
export const registerBulk = (group: Command, context: Context): void => {
  const { many, formats, file, example, load } = kinds[group.name()]!
  const words = `svc ${group.name()}`
  const imports = addOrgFlag(group.command('import'))
    .description(`Import ${many} from a file; all rows are checked before the first is sent`)
    .usage('<file> [flags]')
    .argument('[file]')
    .option('--format <format>', `Format of the file; default: from its name (${formats})`)
    .option('--on-conflict <what>', `How to handle rows that already exist (fail|skip|update)`)
    .option('--skip-invalid', 'Send the valid rows and report the others; exits with 10')
    .option('--results <file>', 'File for the result of each row, NDJSON; default: next to the input')
    .option('--resume', 'Continue an import that did not finish, or retry the rows that failed')
    .option('--concurrency <n>', 'Number of rows to send at the same time, 1 to 64; default: 16')
    .option('--dry-run', 'Check the rows, print the first request and send nothing')
    .addHelpText('after', `\nExample:\n  ${words} import ${file} --org acme\n  ${example}`)
  noteScope(imports, group.name() === 'user' ? 'read and people' : 'read and rules')
  imports.action(async () => {
    const [{ runImport }, kind] = await Promise.all([import('./import.ts'), load()])
    await runImport(kind, imports.args[0], imports.opts<TypedImport>(), context)
  })

  const exports = addOrgFlag(group.command('export'))
    .description(`Export all ${many} in a form that can be imported`)
    .usage('[file] [flags]')
    .argument('[file]')
    .option('--format <format>', `Format; default: from the name of the file, else csv (${formats})`)
    .option('--yes', 'Replace a file that already exists, without asking')
    .addHelpText('after', `\nExample:\n  ${words} export ${file} --org acme`)
  noteScope(exports, 'read')
  exports.action(async () => {
    const [{ runExport }, kind] = await Promise.all([import('./export.ts'), load()])
    await runExport(kind, exports.args[0], exports.opts<TypedExport>(), context)
  })
}
