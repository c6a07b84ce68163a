import { resolve } from 'node:path'
import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { dataDir } from '../data-dir.ts'

type Options = { dataDir?: string; profile?: boolean }

const maintenance = () => import('../../service/maintenance.ts')

const say = async (context: Context, message: string, data: Record<string, unknown>): Promise<void> => {
  const output = await context.output()
  output.note(message)
  await output.show({ status: 'success', message, data })
}

/** Puts a new key into the profile `local`, when that is of this data folder. */
const saveKey = async ({ io }: Context, key: string, dir: string): Promise<boolean> => {
  const { createStore } = await import('../profile/store.ts')
  const store = createStore(io)
  if (store.read().profiles.local?.data_dir !== dir) return false
  await store.update(({ profiles }) => {
    if (profiles.local?.data_dir === dir) profiles.local.api_key = key
  })
  return true
}

/** `svc service`: what an operator does to the data of a service while it does not run; a backup also while it does. */
export const registerService = (group: Command, context: Context): void => {
  const add = (
    name: string,
    about: string,
    file: string | undefined,
    work: (dir: string, file: string, options: Options) => Promise<void>,
  ): void => {
    const command = group
      .command(name)
      .description(about)
      .option('--data-dir <dir>', 'where the data is kept; ~/.local/share/svc when left out')
    if (file) command.usage(`<${file}> [flags]`).argument(`[${file}]`)
    if (name === 'reset-operator-key')
      command.option('--no-profile', 'leave the profiles alone; only print the key')
    command
      .addHelpText('after', `\nExample:\n  svc service ${name}${file ? ' svc-backup.db' : ''}`)
      .action(async () => {
        const options = command.opts<Options>()
        const [given] = command.args
        if (file && !given) throw usageError(`Missing <${file}>`, `svc service ${name} svc-backup.db`)
        await work(dataDir(context.io, options.dataDir), resolve(context.io.cwd, given ?? ''), options)
      })
  }

  add('backup', 'Write everything, keys included, to one file; it is a secret', 'file', async (dir, file) => {
    await (await maintenance()).backup(dir, file)
    await say(context, 'Backup written', { file, data_dir: dir })
  })
  add('restore', 'Fill an empty data folder from a backup', 'file', async (dir, file) => {
    await (await maintenance()).restore(file, dir)
    await say(context, 'Backup restored', { file, data_dir: dir })
  })
  add('migrate', 'Bring the data to the newest schema', undefined, async (dir) => {
    const applied = await (await maintenance()).migrate(dir)
    await say(context, applied.length > 0 ? 'Migrated' : 'Nothing to migrate', { data_dir: dir, applied })
  })
  add(
    'reset-operator-key',
    'Revoke every operator key and make a new one',
    undefined,
    async (dir, _file, options) => {
      const key = await (await maintenance()).resetOperatorKey(dir)
      const saved = options.profile !== false && (await saveKey(context, key, dir))
      await say(
        context,
        saved ? 'New operator key, saved in the profile local' : 'New operator key, shown once',
        {
          key,
        },
      )
    },
  )
}
