import { fieldsIn } from '../../client/answer-data.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import type { Context } from '../context/context.ts'
import { isUnsupported } from '../context/own-key.ts'
import { createStore } from '../context/profile-store.ts'
import { holdersOf, type Holder } from '../profile/key-holders.ts'

export type NamedKey = Partial<Data<typeof key.getKey>>

/** The key with everything that ends with it; undefined if the service does not show it. */
export const readKey = async (id: unknown, context: Context): Promise<NamedKey | undefined> => {
  const client = await context.client()
  try {
    return fieldsIn(await client.call(key.getKey, { id: String(id) }, { signal: context.io.signal }))
  } catch (error) {
    // The command itself reports why it cannot be done.
    if (isUnsupported(error)) return undefined
    throw error
  }
}

/** The saved keys of this machine with one of these prefixes, for the service in use. */
export const savedHolders = async (prefixes: readonly string[], context: Context): Promise<Holder[]> => {
  const { origin } = new URL((await context.settings()).baseUrl.value)
  return holdersOf(createStore(context.io).read(), { origin, prefixes })
}
