import { keyPrefix } from '../../core/key-prefix.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { createStore } from '../context/profile-store.ts'

const slots = { api_key: 'API key', ask_key: 'ask key' } as const
type Slot = keyof typeof slots

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
      for (const slot of Object.keys(slots) as Slot[]) {
        if (!isOld(profile[slot]) || profile[`${slot}_origin`] !== origin) continue
        profile[slot] = secret
        lines.push(safeLine(`Saved in profile ${name} (${slots[slot]})`))
      }
  })
  const { where, origin: savedFor } = keySources.apiKey ?? {}
  if (savedFor === undefined && isOld(await apiKey(baseUrl.value)))
    lines.push(`The key ${where} is an old secret; replace it with the new one`)
  return lines
}
