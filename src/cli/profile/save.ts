import { usageError } from '../../core/errors.ts'
import { keyPrefix } from '../../core/key-prefix.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { createStore, type ProfileFile } from '../context/profile-store.ts'
import { checkKey, type Noun } from '../../client/key-check.ts'
import { createKeyReader, fileSource, loginTo } from '../context/api-key.ts'
import { shownProfile } from './present.ts'

/**
 * Reads a new key: from --key-file, from standard input, or typed without echo. Before it asks, it rejects an address to which
 * no key may be sent.
 */
export const readNewKey = async (
  { io, globals, prompt }: Context,
  target: { url: string; profile: string; piped?: boolean; noun?: Noun },
): Promise<string> => {
  const file = globals.keyFile ?? (target.piped && !io.stdin.isTTY ? '-' : undefined)
  const where = 'that was entered'
  const { noun = 'API key' } = target
  const read = async (): Promise<string> => {
    if (file !== undefined) return fileSource(file, io).read()
    const prompts = await prompt()
    if (!prompts)
      throw usageError(
        `Cannot ask for the ${noun}: this is not a terminal`,
        `${loginTo(target.profile, noun)}${globals.baseUrl ? ` --base-url ${shellQuote(globals.baseUrl)}` : ''} --with-key < key.txt`,
      )
    return (
      await prompts.secret(`${noun[0]!.toUpperCase()}${noun.slice(1)} for ${new URL(target.url).origin}`)
    ).trim()
  }
  const key = await createKeyReader({ where, read }, target.profile, noun)(target.url)
  return checkKey(key ?? '', where, noun)
}

type Saving = {
  /** The profile that is about to be changed. */
  name: string
  /** Throws if the change is not possible. */
  change(file: ProfileFile): void
  /** Reported once it is saved. */
  message: string
  dryRun?: boolean | undefined
  /** Says how to use the profile, if it is not the current one. */
  isLogin?: boolean
}

/** Saves a change to the profile file; with `dryRun`, shows the profile as it would be and saves nothing. */
export const saveProfile = async (
  { name, change, message, dryRun, isLogin }: Saving,
  context: Context,
): Promise<void> => {
  const store = createStore(context.io)
  const output = await context.output()
  if (!dryRun) {
    await store.update(change)
    context.changed = true
    output.report(message)
    const { current } = store.read()
    if (isLogin && current !== undefined && current !== name)
      output.report(safeLine(`The current profile is still ${current}: svc profile use ${shellQuote(name)}`))
    return
  }
  const file = store.read()
  change(file)
  const after = file.profiles[name]
  const shown = after ? shownProfile(name, after, context.globals.reveal === true) : { name, removed: true }
  await output.reportDryRun('Nothing was saved', shown)
}

/**
 * Saves the new secret of a key in every profile of this machine that holds an older one for this service, so that no profile
 * stops when that one ends. `prefixes`: of the older secrets. Returns a line for each profile.
 */
export const saveRotated = async (
  prefixes: readonly string[],
  secret: string,
  context: Context,
): Promise<string[]> => {
  const { baseUrl, keySources, apiKey } = await context.settings()
  const { origin } = new URL(baseUrl.value)
  const lines: string[] = []
  const isOld = (saved: string | undefined): boolean =>
    saved !== undefined && prefixes.includes(keyPrefix(saved))
  await createStore(context.io).update(({ profiles }) => {
    for (const [name, profile] of Object.entries(profiles))
      for (const slot of ['api_key', 'ask_key'] as const) {
        if (!isOld(profile[slot]) || profile[`${slot}_origin`] !== origin) continue
        profile[slot] = secret
        lines.push(safeLine(`Saved in profile ${name} (${slot === 'api_key' ? 'API key' : 'ask key'})`))
      }
  })
  const { where, origin: savedFor } = keySources.apiKey ?? {}
  if (savedFor === undefined && isOld(await apiKey(baseUrl.value)))
    lines.push(`The key ${where} is an old secret; replace it with the new one`)
  return lines
}
