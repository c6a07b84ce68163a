import { requirePrivateWay } from '../../client/key-check.ts'
import { apiRoot, checkBaseUrl } from '../../client/address.ts'
import { createClient } from '../../client/rest.ts'
import { grants, type Scope, scopesOf } from '../../contract/scopes.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { randomToken } from '../../core/ids.ts'
import { addMs, inWholeSeconds } from '../../core/iso-time.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Transport } from '../../core/transport.ts'
import type { Context } from '../context/context.ts'
import { readOwnKey } from '../context/own-key.ts'
import { readKeyFile } from '../context/key-file.ts'
import type { Io } from '../terminal/io.ts'
import { openTransport } from '../context/open-client.ts'
import { createStore, type Profile, type ProfileFile } from '../context/profile-store.ts'
import { requireProfile, type Settings } from '../context/settings.ts'
import { saveProfile } from './save.ts'
import { signIn, signOut } from './sign-in.ts'

// A profile of a person: two keys that their device consented to, for a day of work.

const readCan = (text = 'ask,admin'): readonly Scope[] => {
  const words = text.split(',')
  const wrong = words.find((word) => word === 'app' || !(grants as readonly string[]).includes(word))
  if (wrong !== undefined)
    throw usageError(
      `--can: "${wrong}" is not something that a sign-in gives`,
      `One or more of ${grants.filter((one) => one !== 'app').join(', ')}, with commas: --can ask,read`,
    )
  return scopesOf(['ask', ...(words as (typeof grants)[number][])]).filter((one) => one !== 'app')
}

/** Refuses a profile whose keys are not from a sign-in, which would be lost. */
const checkReplaceable = (name: string, saved: Profile, url: string): void => {
  if (saved.installation !== undefined) return
  const own = (['api_key', 'ask_key', 'credential_command', 'ask_credential_command'] as const).find(
    (field) => saved[field] !== undefined,
  )
  if (own === undefined) return
  throw usageError(
    `Profile "${name}" has its own key (${own}), which a sign-in would replace`,
    `Sign in to a profile of your own: svc profile login NAME --base-url ${shellQuote(url)}. To save another key: svc profile login ${shellQuote(name)} --with-key`,
  )
}

export type LoginOptions = {
  withKey?: boolean
  ask?: boolean
  bearer?: boolean
  can?: string
  authenticator?: string
  device?: boolean
  dryRun?: boolean
}

type Target = { name: string; settings: Settings; saved: Profile; fields: Partial<Profile> }

/** The consent with a key file, which plays the phone of a person where the service runs with --dev. */
const consentOf = async (file: string, io: Io) => {
  const { consentWith } = await import('./key-file-consent.ts')
  const keyFile = readKeyFile(file, io)
  return (...call: [url: string, transport: Transport, signal: AbortSignal]) => consentWith(keyFile, ...call)
}

/** Signs a person in with the browser of this machine, and saves both keys. */
export const logInPerson = async (
  { name, settings, saved, fields }: Target,
  { can, authenticator, device = false, dryRun }: LoginOptions,
  context: Context,
): Promise<void> => {
  const { io, globals } = context
  const given = checkBaseUrl(globals.baseUrl ?? saved.base_url ?? settings.baseUrl.value, '--base-url')
  const address = new URL(given)
  // Signing in needs only the origin, every other command the whole address.
  const url = address.pathname === '/' ? `${address.origin}${apiRoot}` : given
  const { origin } = address
  const scopes = readCan(can)
  if (device && authenticator !== undefined)
    throw usageError('--device cannot be combined with --authenticator', 'Remove --device or --authenticator')
  checkReplaceable(name, saved, url)
  requirePrivateWay(address)
  const { installation = randomToken(16) } = saved
  let keys: Partial<Profile> = { base_url: url }
  const change = (file: ProfileFile): void => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name]! : fields
    const { api_key: _, api_key_origin: __, ...rest } = before
    file.profiles[name] = { ...rest, ...keys }
    file.current ??= name
  }
  if (dryRun) return saveProfile({ name, change, message: '', dryRun }, context)
  if (!device && authenticator === undefined && !io.stdin.isTTY && !io.env['BROWSER'])
    throw usageError(
      'Signing in requires a terminal and a browser',
      `Without a browser: ${await context.command!.again({ plus: ['--device'] })}. To save a key: ${await context.command!.again({ plus: ['--with-key'] })} < key.txt`,
    )
  const consent = authenticator === undefined ? undefined : await consentOf(authenticator, io)
  const transport = openTransport(io, settings.cacert?.value)
  try {
    const again = `svc profile login ${shellQuote(name)}`
    const got = await signIn({ origin, installation, scopes, again, byCode: device, consent }, transport, io)
    keys = {
      ...keys,
      installation,
      person: got.person,
      ask_key: got.access_token,
      ask_key_origin: origin,
      ...(got.management_token !== undefined && {
        api_key: got.management_token,
        api_key_origin: origin,
      }),
      // These keys reach no other.
      org: got.organization,
    }
    const until = inWholeSeconds(addMs(io.now().toISOString(), got.expires_in * 1000))
    const asked = scopes.some((scope) => scope !== 'ask') && can !== undefined
    const less = asked ? 'can only ask: the rest needs an administrator' : 'can ask'
    const manages = !device && scopes.some((scope) => scope !== 'ask' && scope !== 'read')
    const does = got.management_token === undefined ? less : `can ask and ${manages ? 'manage' : 'read'}`
    await saveProfile(
      {
        name,
        change,
        isLogin: true,
        message: safeLine(
          `Signed in to ${got.organization} as ${got.person} until ${until}; profile ${name} ${does}`,
        ),
      },
      context,
    )
    await endFormer(saved, transport, context)
  } finally {
    await transport.close()
  }
}

/** Of a sign-in: the one that asks, and the one that manages if there is one. */
const tokensOf = ({ ask_key, api_key }: Profile): string[] =>
  [ask_key, api_key].filter((token) => token !== undefined)

/** Ends the sign-in that the profile had before, if the new one did not renew it: it was of another organization, person or service. */
const endFormer = async (saved: Profile, transport: Transport, context: Context): Promise<void> => {
  if (saved.installation === undefined || saved.ask_key === undefined) return
  try {
    for (const token of tokensOf(saved)) await signOut(saved.ask_key_origin!, token, transport, context.io)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    ;(await context.output()).warn(
      'The former sign-in of this profile could not be ended. If it was in another organization, disconnect it on the approver page, under Signed in',
    )
  }
}

/** Ends one key at the service, and with it the others of the sign-in. Returns why there was nothing to end; undefined if it did. */
const endKey = async (
  origin: string,
  token: string,
  transport: Transport,
  io: Io,
): Promise<string | undefined> => {
  const client = createClient({ baseUrl: `${origin}${apiRoot}`, transport, apiKey: async () => token })
  try {
    await readOwnKey(client, io.signal)
  } catch (error) {
    if (!(error instanceof SvcError) || error.http_status !== 401) throw error
    return error.code === 'signed_out'
      ? 'its keys had expired, and expired keys need no revocation; requests that are pending stay until they expire'
      : 'the service had ended its keys before'
  }
  await signOut(origin, token, transport, io)
  return undefined
}

/** Ends the sign-in of a profile, at the service first. */
export const logOutPerson = async (name: string, dryRun: boolean | undefined, context: Context) => {
  const { io } = context
  const saved = requireProfile(createStore(io).read(), name)
  if (saved.installation === undefined || saved.ask_key === undefined)
    throw usageError(
      `Nobody is signed in to profile "${name}"`,
      `To sign in: svc profile login ${shellQuote(name)}`,
    )
  const change = (file: ProfileFile): void => {
    const profile = requireProfile(file, name)
    for (const field of ['api_key', 'api_key_origin', 'ask_key', 'ask_key_origin'] as const)
      delete profile[field]
  }
  let more = ''
  if (!dryRun) {
    const transport = openTransport(io, saved.cacert)
    try {
      // One of the two may have been ended alone, on the approver page.
      const had: (string | undefined)[] = []
      for (const one of tokensOf(saved)) had.push(await endKey(saved.ask_key_origin!, one, transport, io))
      if (!had.includes(undefined)) more = `: removed its keys here. Nothing was revoked: ${had[0]}`
    } finally {
      await transport.close()
    }
  }
  await saveProfile({ name, change, message: `Signed out of profile ${name}${more}`, dryRun }, context)
}
