import { requireYes } from '../operation/confirm.ts'
import { defineCommand, together } from '../program/define-command.ts'
import type { Flags } from '../program/command-node.ts'
import { defaultBaseUrl } from '../../client/address.ts'
import { addProfile, setFields, type NewProfile } from './changes.ts'
import { logIn } from './login.ts'
import type { LoginOptions } from './person.ts'
import { explain, profileRows, shownProfile } from './present.ts'
import { createStore, type ProfileFile } from '../context/profile-store.ts'
import { createSettings, requireProfile } from '../context/settings.ts'
import { saveProfile } from './save.ts'

type DryRun = { dryRun?: boolean }

const dryRunFlag: Flags = { '--dry-run': 'Show what would be saved and save nothing' }

const list = defineCommand({
  name: 'list',
  summary: 'List the profiles',
  examples: ['svc profile list'],
  action: async (_, context) =>
    (await context.output()).report('Profiles', profileRows(createStore(context.io).read()), {
      wide: ['ask_key', 'key'],
    }),
})

const show = defineCommand<{ explain?: boolean }, [name?: string]>({
  name: 'show',
  summary: 'Show a profile; its key is masked without --reveal',
  args: ['[name]'],
  options: { '--explain': 'Show each value in use and where it comes from' },
  examples: ['svc profile show prod --explain'],
  action: async ({ args: [typedName], options }, context) => {
    const { io } = context
    const globals = typedName === undefined ? context.globals : { ...context.globals, profile: typedName }
    const settings = createSettings({ io, globals })
    const file = createStore(io).read()
    const name = settings.profile.value
    const saved =
      settings.profile.source === 'default' ? (file.profiles[name] ?? {}) : requireProfile(file, name)
    const output = await context.output()
    if (options.explain) return output.report('Settings', explain(settings, saved, typedName))
    return output.report('Profile', shownProfile(name, saved, globals.reveal === true))
  },
})

const create = defineCommand<NewProfile, [name: string]>({
  name: 'create',
  summary: 'Create a profile for the service at --base-url',
  args: ['<name>'],
  options: {
    '--mcp-url <url>': 'Address of the approval tool server, ending in /mcp',
    '--org <org>': 'Default organization',
    '--default-mobile <mobile>': 'Default approver, E.164; or lines of approvers, as for --to',
    '--protected': 'Require the name of whatever you delete',
    '--with-key': 'Save the API key from standard input; ask for it on a terminal',
    '--credential-command <command>': 'Command that prints the API key; run without a shell',
    ...dryRunFlag,
  },
  examples: ['svc profile create prod --base-url https://host.example/admin/public/api --with-key < key.txt'],
  action: ({ args: [name], options }, context) => addProfile(name, options, context),
})

const set = defineCommand<DryRun>({
  name: 'set',
  summary: 'Change fields of a profile; key= removes one',
  usage: '[name] key=value... [flags]',
  args: ['<changes...>'],
  options: { ...dryRunFlag },
  examples: ['svc profile set prod org=acme protected=true'],
  action: setFields,
})

const use = defineCommand<DryRun, [name: string]>({
  name: 'use',
  summary: 'Set the current profile',
  args: ['<name>'],
  options: { ...dryRunFlag },
  examples: ['svc profile use prod'],
  action: async ({ args: [name], options: { dryRun } }, context) => {
    const change = (file: ProfileFile): void => {
      requireProfile(file, name)
      file.current = name
    }
    await saveProfile({ name, change, message: `Profile ${name} is the current one`, dryRun }, context)
  },
})

const remove = defineCommand<DryRun & { yes?: boolean }, [name: string]>({
  name: 'remove',
  summary: 'Remove a profile and the keys in it',
  args: ['<name>'],
  options: { '-y, --yes': 'Do not ask for confirmation', ...dryRunFlag },
  examples: ['svc profile remove old --yes'],
  action: async ({ args: [name], options: { yes, dryRun } }, context) => {
    const saved = requireProfile(createStore(context.io).read(), name)
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
  },
})

const login = defineCommand<LoginOptions>({
  name: 'login',
  summary: 'Sign in with the browser, or save a key; a new name creates a profile',
  args: ['[name]'],
  options: {
    '--can <scopes>': 'Sign in for less than you may do: ask, or ask,read',
    '--device':
      'Sign in with a code that you type elsewhere: to ask and, of an administrator, read, for an hour',
    '--authenticator <file>': 'Sign in with a key file instead of the browser; requires svc serve --dev',
    '--with-key': 'Save an API key from standard input instead; ask for it on a terminal',
    '--ask': 'Save a key that requests approvals next to the API key',
    '--bearer': 'Save the bearer token of the tool server instead',
    ...dryRunFlag,
  },
  examples: ['svc profile login prod --base-url https://svc.example.com/admin/public/api'],
  action: logIn,
})

const logout = defineCommand<DryRun>({
  name: 'logout',
  summary: 'Sign out: end the keys of this profile at the service',
  args: ['[name]'],
  options: { ...dryRunFlag },
  examples: ['svc profile logout prod'],
  action: async ({ args: [typedName], options }, context) => {
    const name = typedName ?? createSettings(context).profile.value
    const { logOutPerson } = await import('./person.ts')
    return logOutPerson(name, options.dryRun, context)
  },
})

/** `svc profile`: addresses and keys by name. Global flags such as --base-url mean the profile's own values here. */
export const registerProfile = together(list, show, create, set, use, remove, login, logout)
