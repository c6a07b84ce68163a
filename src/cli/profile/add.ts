import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { pathHint } from '../context/address.ts'
import { checkName, parseChange } from './edit.ts'
import type { Profile, ProfileFile } from '../context/profile-file.ts'
import { readNewKey, saveProfile } from './save.ts'
import { createStore } from '../context/profile-store.ts'

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

/** Saves a new profile; fails where one of that name is there. */
export const addProfile = async (name: string, options: NewProfile, context: Context): Promise<void> => {
  const { io, globals } = context
  checkName(name)
  if (globals.baseUrl === undefined)
    throw usageError(
      'svc profile create requires --base-url',
      '--base-url https://host.example/admin/public/api',
    )
  const given: [string, string | undefined][] = [
    ['base_url', globals.baseUrl],
    ['mcp_url', options.mcpUrl],
    ['org', options.org],
    ['default_mobile', options.defaultMobile],
    ['cacert', globals.cacert],
    ['credential_command', options.credentialCommand],
    ['protected', options.protected ? 'true' : undefined],
  ]
  const fields = given.flatMap(([field, value]) => (value ? [parseChange(`${field}=${value}`, io)] : []))
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
