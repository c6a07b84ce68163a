import { usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { pathHint } from './address.ts'
import { checkName, parseChange } from './edit.ts'
import type { Profile } from './profile-file.ts'
import { readNewKey } from './read-key.ts'
import { createStore } from './store.ts'

/** The flags of `svc profile create`; the address and the CA are the global ones. */
export type NewProfile = {
  mcpUrl?: string
  org?: string
  defaultMobile?: string
  protected?: boolean
  withKey?: boolean
  credentialCommand?: string
}

/** Saves a new profile; fails where one of that name is there. */
export const addProfile = async (name: string, options: NewProfile, context: Context): Promise<void> => {
  const { io, globals } = context
  checkName(name)
  if (globals.baseUrl === undefined)
    throw usageError(
      'svc profile create needs --base-url',
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
  const taken = () => usageError(`There is a profile "${name}" already`, `svc profile set ${name} key=value`)
  if (Object.hasOwn(store.read().profiles, name)) throw taken()
  if (options.withKey || globals.keyFile !== undefined) {
    profile.api_key = await readNewKey(context, { url, profile: name, piped: true })
    profile.api_key_origin = new URL(url).origin
  }
  await store.update((file) => {
    if (Object.hasOwn(file.profiles, name)) throw taken()
    file.profiles[name] = profile
    file.current ??= name
  })
  const output = await context.output()
  const hint = pathHint(url)
  if (hint) output.warn(`hint: ${hint}`)
  await output.show({ status: 'success', message: `Profile ${name} added` })
}
