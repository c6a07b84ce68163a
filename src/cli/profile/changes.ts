import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { nearest } from '../../core/nearest.ts'
import type { Context } from '../context/context.ts'
import type { Action } from '../program/define-command.ts'
import { defaultBaseUrl, originOf, pathHint } from '../../client/address.ts'
import { createStore, type Profile, type ProfileFile } from '../context/profile-store.ts'
import { createSettings, requireProfile } from '../context/settings.ts'
import { checkName, parseChange } from './edit.ts'
import { readNewKey, saveProfile } from './save.ts'

/** The flags of `svc profile create`; the address and the CA are the global ones. */
export type NewProfile = {
  mcpUrl?: string
  org?: string
  defaultMobile?: string
  protected?: boolean
  withKey?: boolean
  credentialCommand?: string
  dryRun?: boolean
}

/** Saves a new profile. Throws if the name is taken. */
export const addProfile = async (name: string, options: NewProfile, context: Context): Promise<void> => {
  const { io, globals } = context
  checkName(name)
  if (globals.baseUrl === undefined)
    throw usageError(
      'svc profile create requires --base-url',
      await context.command!.again({ plus: ['--base-url', 'https://svc.example.com/admin/public/api'] }),
    )
  const entries: [string, string | undefined][] = [
    ['base_url', globals.baseUrl],
    ['mcp_url', options.mcpUrl],
    ['org', options.org],
    ['default_mobile', options.defaultMobile],
    ['cacert', globals.cacert],
    ['credential_command', options.credentialCommand],
    ['protected', options.protected ? 'true' : undefined],
  ]
  const fields = entries.flatMap(([field, value]) => (value ? [parseChange(`${field}=${value}`, io)] : []))
  const profile: Profile = Object.fromEntries(fields)
  const url = profile.base_url!
  const store = createStore(io)
  const taken = (): SvcError =>
    new SvcError('refused', 'name_taken', `Profile "${name}" already exists`, {
      hint: `svc profile set ${shellQuote(name)} key=value`,
    })
  if (Object.hasOwn(store.read().profiles, name)) throw taken()
  if (!options.dryRun && (options.withKey || globals.keyFile !== undefined)) {
    profile.api_key = await readNewKey(context, { url, profile: name, piped: true })
    profile.api_key_origin = new URL(url).origin
  }
  const change = (file: ProfileFile): void => {
    if (Object.hasOwn(file.profiles, name)) throw taken()
    file.profiles[name] = profile
    file.current ??= name
  }
  const hint = pathHint(url)
  if (hint) (await context.output()).warn(`hint: ${hint}`)
  await saveProfile({ name, change, message: `Profile ${name} created`, dryRun: options.dryRun }, context)
}

/** `[name] key=value…`: changes fields of the named profile, or of the one in use. */
export const setFields: Action<{ dryRun?: boolean }> = async ({ args, options }, context, { tree }) => {
  const { io, globals } = context
  const { dryRun } = options
  const named = args[0] !== undefined && !args[0].includes('=')
  const changes = (named ? args.slice(1) : args).map((text) => parseChange(text, io))
  if (changes.length === 0) throw usageError('svc profile set requires key=value', 'svc profile set org=acme')
  const listed = changes.find(([field]) => field === 'require_approval')?.[1] as string[] | undefined
  if (listed) checkCommands(listed, await tree())
  const name = named ? args[0]! : createSettings({ io, globals }).profile.value
  const changed = (field: string): boolean => changes.some(([one]) => one === field)
  let hints: (string | undefined)[] = []
  const change = (file: ProfileFile): void => {
    const profile = requireProfile(file, name)
    for (const [field, value] of changes) {
      if (value === undefined) delete profile[field]
      else Object.assign(profile, { [field]: value })
    }
    const { base_url: url = defaultBaseUrl, api_key_origin: origin } = profile
    const elsewhere =
      profile.mcp_url !== undefined &&
      originOf(profile.mcp_url) !== originOf(url) &&
      changed('base_url') &&
      !changed('mcp_url')
    hints = [
      origin !== undefined && origin !== originOf(url)
        ? `Its key was saved for ${origin}. To save one for the new address: svc profile login ${shellQuote(name)} --with-key`
        : listed && !profile.default_mobile
          ? `No approver is configured: svc profile set ${shellQuote(name)} default_mobile=+12025550101`
          : pathHint(url),
      elsewhere
        ? `mcp_url still points to ${originOf(profile.mcp_url!)}: svc profile set ${shellQuote(name)} mcp_url=${shellQuote(`${originOf(url)}/mcp`)}`
        : undefined,
    ]
  }
  await saveProfile({ name, change, message: `Profile ${name} changed`, dryRun }, context)
  for (const hint of hints) if (hint) (await context.output()).warn(`hint: ${hint}`)
}

const allWords = (command: Command, before: string[] = []): string[] =>
  command.commands.flatMap((child) => {
    const words = [...before, child.name()]
    return [words.join(' '), ...allWords(child, words)]
  })

/** Throws for a name that is no command or group: a typing error would protect nothing. */
const checkCommands = (listed: readonly string[], tree: Command): void => {
  const known = allWords(tree)
  const wrong = listed.find((words) => !known.includes(words))
  if (wrong !== undefined) {
    const near = nearest(wrong, known)
    throw usageError(
      `require_approval: "${wrong}" is not a command of svc${near === undefined ? '' : `; did you mean "${near}"?`}`,
      'svc profile set require_approval="org delete, user delete"',
    )
  }
  if (listed.some((words) => words === 'approve' || words.startsWith('approve ')))
    throw usageError(
      'require_approval cannot contain approve: its commands request the approvals',
      'List commands that change something: org delete, user, apply',
    )
}
