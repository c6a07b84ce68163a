import { resolve } from 'node:path'
import { usageError } from '../../core/errors.ts'
import { counted } from '../../core/sentence.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { requireYes } from '../operation/confirm.ts'
import { defineCommand, together } from '../program/define-command.ts'
import type { Flags } from '../program/command-node.ts'
import { noteReturned, report, reportDryRun } from './maintenance-report.ts'
import { placeFlags, placeOf } from './serve-command.ts'
import { readText } from '../terminal/input-file.ts'

type Options = {
  dataDir?: string
  databaseUrlFile?: string
  toDatabaseUrlFile?: string
  profile?: boolean
  yes?: boolean
  dryRun?: boolean
  from?: string
  newKeyFile?: string
}

type Maintenance = import('../../service/lifecycle/store-maintenance.ts').Maintenance
type Place = import('../../service/lifecycle/place.ts').StorePlace

/** Saves a new key in the profile `local`, if the profile is for this data folder. */
const saveKey = async ({ io }: Context, key: string, dir: string | undefined): Promise<boolean> => {
  if (dir === undefined) return false
  const { createStore } = await import('../context/profile-store.ts')
  const store = createStore(io)
  if (store.read().profiles.local?.data_dir !== dir) return false
  await store.update(({ profiles }) => {
    if (profiles.local?.data_dir === dir) profiles.local.api_key = key
  })
  return true
}

const resetNote = (revoked: number, ended: number): string =>
  `Revoked ${counted(revoked, 'operator key')} and ended ${counted(ended, 'pending request')}.` +
  ' A profile that has a revoked key requires the new one: svc profile login <profile> --with-key'

const rotationNote = {
  rotated: 'New master key',
  finished: 'Finished the rotation that was interrupted',
  unchanged: 'The store already has this master key',
}

const maintenanceOf = async (
  { dataDir, databaseUrl }: Place,
  { io: { env }, output }: Context,
): Promise<Maintenance> => {
  if (dataDir === undefined) {
    const { databaseMaintenance } = await import('../../service/lifecycle/database-maintenance.ts')
    return databaseMaintenance(databaseUrl, env)
  }
  const { folderMaintenance } = await import('../../service/lifecycle/folder-maintenance.ts')
  return folderMaintenance(dataDir, env, (await output()).warn)
}

/** Moves a data folder into a database. */
const move = async (place: Place, { dryRun, toDatabaseUrlFile = '' }: Options, context: Context) => {
  if (place.dataDir === undefined)
    throw usageError(
      '--to-database-url-file moves a data folder, and the store is in a database',
      'Name the folder: --data-dir FOLDER',
    )
  const { dataDir: data_dir } = place
  const { readUrlFile, nameOfPlace } = await import('../../service/lifecycle/place.ts')
  const { checkMove, moveToDatabase } = await import('../../service/lifecycle/move.ts')
  const { io } = context
  const databaseUrl = readUrlFile(resolve(io.cwd, toDatabaseUrlFile), '--to-database-url-file')
  const where = { data_dir, database: nameOfPlace({ databaseUrl }) }
  if (dryRun) return reportDryRun(context, { ...where, ...(await checkMove(data_dir, databaseUrl)) })
  const output = await context.output()
  const done = await moveToDatabase(data_dir, databaseUrl, io.env, (line) => output.note(line))
  if (!io.env.SVC_MASTER_KEY)
    output.warn('Set SVC_MASTER_KEY on each node to the text of the file master.key in the data folder')
  await report(context, done.state === 'moved' ? 'Moved' : 'Finished the move that was interrupted', {
    ...where,
    ...done,
  })
}

type Kind = {
  name: string
  summary: string
  takesFile?: boolean
  options?: Flags
  work(
    store: Maintenance,
    typed: { options: Options; file: string; place: Place },
    context: Context,
  ): Promise<void>
}

const kinds: readonly Kind[] = [
  {
    name: 'backup',
    summary: 'Back up all data to one secret file, with master.key but never SVC_MASTER_KEY',
    takesFile: true,
    work: async (store, { options, file }, context) => {
      if (options.dryRun) {
        await store.checkBackup(file)
        return reportDryRun(context, { file, ...store.place })
      }
      await store.backup(file)
      await report(context, 'Backup written', { file, ...store.place })
    },
  },
  {
    name: 'restore',
    summary: 'Restore a backup into an empty folder or database; stop the old service first',
    takesFile: true,
    work: async (store, { options, file }, context) => {
      if (options.dryRun) {
        await store.checkRestore(file)
        return reportDryRun(context, { file, ...store.place })
      }
      const returned = await store.restore(file)
      await report(context, 'Backup restored', { file, ...store.place, ...returned.counts })
      await noteReturned(context, returned)
    },
  },
  {
    name: 'migrate',
    summary: 'Upgrade the data to the newest schema, or move it into a database',
    options: {
      '--to-database-url-file <file>':
        'Move the data folder into the empty PostgreSQL database whose URL this file contains',
    },
    work: async (store, { options, place }, context) => {
      if (options.toDatabaseUrlFile !== undefined) return move(place, options, context)
      if (options.dryRun) return reportDryRun(context, { ...store.place, ...(await store.plannedUpgrade()) })
      const upgrade = await store.migrate()
      await report(context, upgrade ? 'Upgraded' : 'Nothing to upgrade', { ...store.place, ...upgrade })
    },
  },
  {
    name: 'settle',
    summary: 'Make a store safe that was put back to an earlier time without svc service restore',
    options: { '-y, --yes': 'Do not ask for confirmation' },
    work: async (store, { options }, context) => {
      await store.checkSettle()
      const effect =
        'sends no unsent message and ends every pending request, unused approval, one-time code, one-time link and sign-in'
      if (options.dryRun) return reportDryRun(context, { ...store.place, effect })
      const [where = ''] = Object.values(store.place)
      const about = () => `This ${effect}\n  in ${safeLine(where)}\n`
      await requireYes('Continue?', { yes: options.yes, about, declined: 'Nothing was changed' }, context)
      const returned = await store.settle()
      await report(context, 'Settled', { ...store.place, ...returned.counts })
      await noteReturned(context, returned)
    },
  },
  {
    name: 'reset-operator-key',
    summary: 'Revoke all operator keys and create a new one',
    options: {
      '--no-profile': 'Do not save the key in a profile, only print it',
      '-y, --yes': 'Do not ask for confirmation',
    },
    work: async (store, { options, place }, context) => {
      await store.checkReset()
      if (options.dryRun) return reportDryRun(context, { ...store.place, revokes: 'every operator key' })
      const [where = ''] = Object.values(store.place)
      const about = () => `Revoke every operator key, and create a new one\n  in ${safeLine(where)}\n`
      const declined = 'No key was revoked'
      await requireYes('Continue?', { yes: options.yes, about, declined }, context)
      const output = await context.output()
      const { key, revoked, ended } = await store.resetOperatorKey()
      output.note(resetNote(revoked, ended))
      const saved = options.profile !== false && (await saveKey(context, key, place.dataDir))
      await report(
        context,
        saved ? 'New operator key, saved in the profile local' : 'New operator key, shown once',
        { key },
        saved ? [] : ['key'],
      )
    },
  },
  {
    name: 'rotate-signing-key',
    summary: 'Retire the key that signs receipts and create a new one',
    options: { '--from <kid>': 'Rotate only if this is the active key' },
    work: async (store, { options: { dryRun, from } }, context) => {
      if (dryRun) {
        await store.checkRotation()
        return reportDryRun(context, { ...store.place, retires: from ?? 'the active signing key' })
      }
      const done = await store.rotateSigningKey(from)
      const { rotated } = done
      await report(context, rotated ? 'New signing key' : `${from} is already retired`, {
        ...store.place,
        ...done,
      })
    },
  },
  {
    name: 'rotate-master-key',
    summary: 'Wrap everything that the store keeps secret under a new master key',
    options: { '--new-key-file <file>': 'File of the new key; - reads standard input' },
    work: async (store, { options: { dryRun, newKeyFile } }, context) => {
      await store.checkMasterKeyRotation()
      const { env } = context.io
      const newKey =
        newKeyFile === undefined
          ? undefined
          : await readText(newKeyFile, context.io, '--new-key-file', { secret: true })
      if (dryRun) return reportDryRun(context, { ...store.place, rewraps: 'every wrapped value' })
      const output = await context.output()
      const { left_out, ...done } = await store.rotateMasterKey(newKey)
      if (left_out.length > 0)
        output.warn(
          `Skipped, because they were already not authentic or not readable: ${left_out.join(', ')}`,
        )
      if (env.SVC_MASTER_KEY) output.warn('Set SVC_MASTER_KEY to the new key before the service starts')
      await report(context, rotationNote[done.state], { ...store.place, ...done })
    },
  },
]

/** `svc service`: maintenance of the data of a service. Most commands require that it is stopped. */
export const registerService = together(
  ...kinds.map(({ name, summary, takesFile = false, options = {}, work }) => {
    const example = `svc service ${name}${takesFile ? ' svc-backup.db' : ''}`
    return defineCommand<Options>({
      name,
      summary,
      ...(takesFile && { usage: '<file> [flags]', args: ['[file]'] }),
      options: { ...placeFlags, '--dry-run': 'Check what would be done and change nothing', ...options },
      examples: [example],
      action: async ({ args: [typed], options: flags }, context) => {
        if (takesFile && !typed) throw usageError('Missing <file>', example)
        const place = await placeOf(context.io, flags)
        const store = await maintenanceOf(place, context)
        await work(store, { options: flags, place, file: resolve(context.io.cwd, typed ?? '') }, context)
      },
    })
  }),
)
