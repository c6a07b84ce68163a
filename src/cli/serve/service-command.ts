import { resolve } from 'node:path'
import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { requireYes } from '../operation/confirm.ts'
import { dataDir } from './serve-command.ts'
import { readText } from '../terminal/input-file.ts'

type Options = {
  dataDir?: string
  profile?: boolean
  yes?: boolean
  dryRun?: boolean
  from?: string
  newKeyFile?: string
}

const maintenance = () => import('../../service/lifecycle/maintenance.ts')

const report = async (
  context: Context,
  message: string,
  data: Record<string, unknown>,
  once: readonly string[] = [],
): Promise<void> => {
  context.changed = true
  const output = await context.output()
  output.note(message)
  await output.report(message, data, { once: new Set(once) })
}

/** Saves a new key in the profile `local`, if the profile is for this data folder. */
const saveKey = async ({ io }: Context, key: string, dir: string): Promise<boolean> => {
  const { createStore } = await import('../context/profile-store.ts')
  const store = createStore(io)
  if (store.read().profiles.local?.data_dir !== dir) return false
  await store.update(({ profiles }) => {
    if (profiles.local?.data_dir === dir) profiles.local.api_key = key
  })
  return true
}

const reportDryRun = async (context: Context, data: Record<string, unknown>): Promise<void> =>
  (await context.output()).reportDryRun('Nothing was changed', data)

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`

const resetNote = (revoked: number, ended: number): string =>
  `Revoked ${count(revoked, 'operator key')} and ended ${count(ended, 'pending request')}.` +
  ' A profile that has a revoked key requires the new one: svc profile login <profile>'

const rotationNote = {
  rotated: 'New master key',
  finished: 'Finished the rotation that was interrupted',
  unchanged: 'The store already has this master key',
}

/** `svc service`: maintenance of the data of a service. Most commands require that it is stopped. */
export const registerService = (group: Command, context: Context): void => {
  type Kind = { about: string; file?: boolean; flags?: [flags: string, about: string][] }
  type Work = (dir: string, options: Options, file: string) => Promise<void>
  const add = (name: string, { about, file = false, flags = [] }: Kind, work: Work): void => {
    const command = group
      .command(name)
      .description(about)
      .option('--data-dir <dir>', 'Folder of the data; default: ~/.local/share/svc')
      .option('--dry-run', 'Check what would be done and change nothing')
    if (file) command.usage('<file> [flags]').argument('[file]')
    for (const flag of flags) command.option(...flag)
    const example = `svc service ${name}${file ? ' svc-backup.db' : ''}`
    command.addHelpText('after', `\nExample:\n  ${example}`).action(async () => {
      const options = command.opts<Options>()
      const [typed] = command.args
      if (file && !typed) throw usageError('Missing <file>', example)
      await work(dataDir(context.io, options.dataDir), options, resolve(context.io.cwd, typed ?? ''))
    })
  }

  add(
    'backup',
    { about: 'Back up all data, including keys, to one file; keep it secret', file: true },
    async (dir, { dryRun }, file) => {
      const { backup, checkBackup } = await maintenance()
      if (dryRun) {
        checkBackup(dir, file)
        return reportDryRun(context, { file, data_dir: dir })
      }
      backup(dir, file)
      await report(context, 'Backup written', { file, data_dir: dir })
    },
  )
  add(
    'restore',
    { about: 'Restore a backup into an empty data folder', file: true },
    async (dir, { dryRun }, file) => {
      const { checkRestore, restore } = await maintenance()
      if (dryRun) {
        checkRestore(file, dir)
        return reportDryRun(context, { file, data_dir: dir })
      }
      await restore(file, dir)
      await report(context, 'Backup restored', { file, data_dir: dir })
    },
  )
  add(
    'migrate',
    { about: 'Copy the data, then upgrade it to the newest schema' },
    async (dir, { dryRun }) => {
      const { migrate, plannedUpgrade } = await maintenance()
      if (dryRun) return reportDryRun(context, { data_dir: dir, ...plannedUpgrade(dir) })
      const upgrade = await migrate(dir)
      await report(context, upgrade ? 'Upgraded' : 'Nothing to upgrade', { data_dir: dir, ...upgrade })
    },
  )
  add(
    'reset-operator-key',
    {
      about: 'Revoke all operator keys and create a new one',
      flags: [
        ['--no-profile', 'Do not save the key in a profile, only print it'],
        ['-y, --yes', 'Do not ask for confirmation'],
      ],
    },
    async (dir, options) => {
      const { requireIdle, resetOperatorKey } = await maintenance()
      requireIdle(dir)
      if (options.dryRun) return reportDryRun(context, { data_dir: dir, revokes: 'every operator key' })
      const about = () => `Revoke every operator key, and create a new one\n  in ${safeLine(dir)}\n`
      const declined = 'No key was revoked'
      await requireYes('Continue?', { yes: options.yes, about, declined }, context)
      const output = await context.output()
      const { key, revoked, ended } = await resetOperatorKey(dir, context.io.env, (line) => output.warn(line))
      output.note(resetNote(revoked, ended))
      const saved = options.profile !== false && (await saveKey(context, key, dir))
      await report(
        context,
        saved ? 'New operator key, saved in the profile local' : 'New operator key, shown once',
        { key },
        saved ? [] : ['key'],
      )
    },
  )
  add(
    'rotate-signing-key',
    {
      about: 'Retire the key that signs receipts and create a new one',
      flags: [['--from <kid>', 'Rotate only if this is the active key']],
    },
    async (dir, { dryRun, from }) => {
      const { requireStore, rotateSigningKey } = await maintenance()
      if (dryRun) {
        requireStore(dir)
        return reportDryRun(context, { data_dir: dir, retires: from ?? 'the active signing key' })
      }
      const output = await context.output()
      const done = await rotateSigningKey(dir, context.io.env, { from, notify: (line) => output.warn(line) })
      const { rotated } = done
      await report(context, rotated ? 'New signing key' : `${from} is already retired`, {
        data_dir: dir,
        ...done,
      })
    },
  )
  add(
    'rotate-master-key',
    {
      about: 'Wrap everything that the store keeps secret under a new master key',
      flags: [['--new-key-file <file>', 'File of the new key; - reads standard input']],
    },
    async (dir, { dryRun, newKeyFile }) => {
      const { requireIdle, rotateMasterKey } = await maintenance()
      requireIdle(dir)
      const { env } = context.io
      const newKey =
        newKeyFile === undefined ? undefined : await readText(newKeyFile, context.io, '--new-key-file')
      if (dryRun) return reportDryRun(context, { data_dir: dir, rewraps: 'every wrapped value' })
      const output = await context.output()
      const notify = (line: string): void => output.warn(line)
      const { left_out, ...done } = await rotateMasterKey(dir, env, { newKey, notify })
      if (left_out.length > 0)
        output.warn(
          `Skipped, because they were already not authentic or not readable: ${left_out.join(', ')}`,
        )
      if (env.SVC_MASTER_KEY) output.warn('Set SVC_MASTER_KEY to the new key before the service starts')
      await report(context, rotationNote[done.state], { data_dir: dir, ...done })
    },
  )
}
