import type { KeyObject } from 'node:crypto'

/** By a name that is the key itself, or a hash of it: reading a key takes longer than verifying with it. */
const known = new Map<string, KeyObject>()
const mostKnown = 100

export const readOnce = (name: string, read: () => KeyObject): KeyObject => {
  const key = known.get(name) ?? read()
  if (known.size >= mostKnown) known.clear()
  known.set(name, key)
  return key
}
