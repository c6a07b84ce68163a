import type { Command } from 'commander'
import { requireYes } from '../operation/confirm.ts'
import type { Register } from '../program/program.ts'
import { defaultBaseUrl } from '../../client/address.ts'
import { addProfile, setFields, type NewProfile } from './changes.ts'
import { logIn } from './login.ts'
import type { LoginOptions } from './person.ts'
import { explain, profileRows, shownProfile } from './present.ts'
import { createStore, type ProfileFile } from '../context/profile-store.ts'
import { createSettings, requireProfile } from '../context/settings.ts'
import { saveProfile } from './save.ts'

type DryRun = { dryRun?: boolean }

const addDryRun = (command: Command): Command =>
  command.option('--dry-run', 'Show what would be saved and save nothing')

const example = (command: Command, text: string): Command =>
  command.addHelpText('after', `\nExample:\n  svc profile ${text}`)

/** `svc profile`: addresses and keys by name. Global flags such as --base-url mean the profile's own values here. */
export const registerProfile: Register = (group, context, program) => {
  const { io } = context
  example(group.command('list').description('List the profiles'), 'list').action(async () =>
    (await context.output()).report('Profiles', profileRows(createStore(io).read()), {
      wide: ['ask_key', 'key'],
    }),
  )

  const show = group
    .command('show [name]')
    .description('Show a profile; its key is masked without --reveal')
    .option('--explain', 'Show each value in use and where it comes from')
  example(show, 'show prod --explain').action(async (typedName: string | undefined) => {
    const globals = typedName === undefined ? context.globals : { ...context.globals, profile: typedName }
    const settings = createSettings({ io, globals })
    const file = createStore(io).read()
    const name = settings.profile.value
    const saved =
      settings.profile.source === 'default' ? (file.profiles[name] ?? {}) : requireProfile(file, name)
    const output = await context.output()
    if (show.opts<{ explain?: boolean }>().explain)
      return output.report('Settings', explain(settings, saved, typedName))
    return output.report('Profile', shownProfile(name, saved, globals.reveal === true))
  })

  const add = group
    .command('create <name>')
    .description('Create a profile for the service at --base-url')
    .option('--mcp-url <url>', 'Address of the approval tool server, ending in /mcp')
    .option('--org <org>', 'Default organization')
    .option('--default-mobile <mobile>', 'Default approver, E.164; or lines of approvers, as for --to')
    .option('--protected', 'Require the name of whatever you delete')
    .option('--with-key', 'Save the API key from standard input; ask for it on a terminal')
    .option('--credential-command <command>', 'Command that prints the API key; run without a shell')
  addDryRun(add)
  example(add, 'create prod --base-url https://host.example/admin/public/api --with-key < key.txt').action(
    (name: string) => addProfile(name, add.opts<NewProfile>(), context),
  )

  const set = group
    .command('set <changes...>')
    .usage('[name] key=value... [flags]')
    .description('Change fields of a profile; key= removes one')
  addDryRun(set)
  example(set, 'set prod org=acme protected=true').action((words: string[]) =>
    setFields(words, set.opts<DryRun>(), context, program),
  )

  const use = addDryRun(group.command('use <name>').description('Set the current profile'))
  example(use, 'use prod').action(async (name: string) => {
    const change = (file: ProfileFile): void => {
      requireProfile(file, name)
      file.current = name
    }
    const { dryRun } = use.opts<DryRun>()
    await saveProfile({ name, change, message: `Profile ${name} is the current one`, dryRun }, context)
  })

  const remove = group
    .command('remove <name>')
    .description('Remove a profile and the keys in it')
    .option('-y, --yes', 'Do not ask for confirmation')
  addDryRun(remove)
  example(remove, 'remove old --yes').action(async (name: string) => {
    const store = createStore(io)
    const saved = requireProfile(store.read(), name)
    const { yes, dryRun } = remove.opts<{ yes?: boolean } & DryRun>()
    const { base_url: url = defaultBaseUrl } = saved
    const question = `Remove profile ${name}, for ${url}, and the key in it?`
    if (!dryRun) await requireYes(question, { yes, declined: 'Nothing was removed' }, context)
    const change = (file: ProfileFile): void => {
      delete file.profiles[name]
      if (file.current === name) delete file.current
    }
    const left = saved.installation !== undefined && saved.ask_key !== undefined
    const message = `Profile ${name} removed${left ? '; the keys of its sign-in stay valid at the service until they expire: svc key list' : ''}`
    await saveProfile({ name, change, message, dryRun }, context)
  })

  const login = group
    .command('login [name]')
    .description('Sign in with the browser, or save a key; a new name creates a profile')
    .option('--can <scopes>', 'Sign in for less than you may do: ask, or ask,read')
    .option('--device', 'Sign in with a code that you type elsewhere: to ask and read, for an hour')
    .option(
      '--authenticator <file>',
      'Sign in with a key file instead of the browser; requires svc serve --dev',
    )
    .option('--with-key', 'Save an API key from standard input instead; ask for it on a terminal')
    .option('--ask', 'Save a key that requests approvals next to the API key')
    .option('--bearer', 'Save the bearer token of the tool server instead')
  addDryRun(login)
  const logout = addDryRun(
    group.command('logout [name]').description('Sign out: end the keys of this profile at the service'),
  )
  example(logout, 'logout prod').action(async (typedName: string | undefined) => {
    const name = typedName ?? createSettings({ io, globals: context.globals }).profile.value
    const { logOutPerson } = await import('./person.ts')
    return logOutPerson(name, logout.opts<DryRun>().dryRun, context)
  })
  example(login, 'login prod --base-url https://svc.example.com/admin/public/api').action(
    (name: string | undefined) => logIn(name, login.opts<LoginOptions>(), context),
  )
}
