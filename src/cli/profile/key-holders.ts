import { keyPrefix } from '../../core/key-prefix.ts'
import type { ProfileFile, ProfileStore } from '../context/profile-store.ts'

const slots = { api_key: 'API key', ask_key: 'ask key' } as const
type Slot = keyof typeof slots

/** A saved key: the name of its profile, and which key of the profile it is. */
export type Holder = { profile: string; slot: Slot }

/** The profiles that hold a key with one of these prefixes, saved for this origin. */
export const holdersOf = (
  { profiles }: ProfileFile,
  { origin, prefixes }: { origin: string; prefixes: readonly string[] },
): Holder[] =>
  Object.entries(profiles).flatMap(([profile, saved]) =>
    (Object.keys(slots) as Slot[])
      .filter((slot) => {
        const key = saved[slot]
        return key !== undefined && saved[`${slot}_origin`] === origin && prefixes.includes(keyPrefix(key))
      })
      .map((slot) => ({ profile, slot })),
  )

/** `profile local (API key), profile ci (ask key)`. */
export const holderList = (holders: readonly Holder[]): string =>
  holders.map(({ profile, slot }) => `profile ${profile} (${slots[slot]})`).join(', ')

/** Saves a new secret wherever an older one is saved, at once for all profiles. Returns where. */
export const replaceSaved = async (
  store: ProfileStore,
  old: { origin: string; prefixes: readonly string[] },
  key: string,
): Promise<Holder[]> => {
  let holders: Holder[] = []
  await store.update((file) => {
    holders = holdersOf(file, old)
    for (const { profile, slot } of holders) file.profiles[profile]![slot] = key
  })
  return holders
}
