import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { TypedExport } from './export.ts'
import type { TypedImport } from './import-options.ts'
import type { Kind } from './kind.ts'

type Words = { many: string; formats: string; file: string; example: string; load(): Promise<Kind> }

// What help needs; the rest of a kind is loaded when it is used.
const kinds: Record<string, Words> = {
  user: {
    many: 'users',
    formats: 'csv|ndjson|json',
    file: 'users.csv',
    example: 'svc user import - --org acme --on-conflict update < users.ndjson',
    load: async () => (await import('./users.ts')).users,
  },
  geofence: {
    many: 'geo-fences',
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

/** `import` and `export` of users, geo-fences or time slots, as the group is called. */
export const registerBulk = (group: Command, context: Context): void => {
  const { many, formats, file, example, load } = kinds[group.name()]!
  const words = `svc ${group.name()}`
  const imports = group
    .command('import')
    .description(`Add many ${many} from a file; each row is checked before the first is sent`)
    .usage('<file> [flags]')
    .argument('[file]')
    .option('--org <org>', 'Organization, id or slug')
    .option('--format <format>', `what the file is, where its name does not say (${formats})`)
    .option('--on-conflict <what>', `what becomes of those that are there already (fail|skip|update)`)
    .option('--skip-invalid', 'send the valid rows and report the others; exits with 10')
    .option('--results <file>', 'how each row ended, NDJSON; beside the input when left out')
    .option('--resume', 'go on with an import that did not end, or try again what failed')
    .option('--concurrency <n>', 'rows on their way at the same time, 1 to 64; 16 when left out')
    .option('--dry-run', 'check the rows, print the first request and send nothing')
    .addHelpText('after', `\nExample:\n  ${words} import ${file} --org acme\n  ${example}`)
  imports.action(async () => {
    const [{ runImport }, kind] = await Promise.all([import('./import.ts'), load()])
    await runImport(kind, imports.args[0], imports.opts<TypedImport>(), context)
  })

  const exports = group
    .command('export')
    .description(`Write all ${many} in the form in which they can be imported`)
    .usage('[file] [flags]')
    .argument('[file]')
    .option('--org <org>', 'Organization, id or slug')
    .option('--format <format>', `csv when neither this nor the file's name says it (${formats})`)
    .addHelpText('after', `\nExample:\n  ${words} export ${file} --org acme`)
  exports.action(async () => {
    const [{ runExport }, kind] = await Promise.all([import('./export.ts'), load()])
    await runExport(kind, exports.args[0], exports.opts<TypedExport>(), context)
  })
}
