import type { Relation } from '../../receipt/claims.ts'
import { authenticKey, rootOf, type Within } from '../keys/ancestry.ts'
import type { KeyRow } from '../keys/rows.ts'
import { isOperatorKey } from '../keys/scopes.ts'
import { aboveRequester, type Deps, follow, type Origin, peopleOf, readKey, type Source } from './origin.ts'

// How a requesting key is related to what is behind a device.

type Asker = Origin & { root: number | undefined; people: ReadonlySet<number> }

/** `roles`: the administrators on the way from the device to the key that enrolled it. */
const relate = async (
  deps: Deps,
  asker: Asker,
  { enroller, roles }: { enroller: KeyRow; roles: Origin['roles'] },
): Promise<Relation> => {
  if (asker.root === enroller.id) return 'self'
  const { keys, isWhole } = await aboveRequester(deps, enroller.id)
  if (asker.root !== undefined && keys.has(asker.root)) return 'self'
  if (!isWhole || !asker.isWhole) return 'unknown'
  // One person can have the key that asks and one above the key that enrolled: both of a terminal, or a role at the page.
  if (peopleOf({ keys, isWhole, roles }).some((id) => asker.people.has(id))) return 'creator'
  if (isOperatorKey(enroller)) return 'operator'
  // One person can use two keys that the same key of an organization created.
  const isShared = [...keys.values()].some((key) => asker.keys.has(key.id) && !isOperatorKey(key))
  return isShared ? 'creator' : 'other'
}

const fromWorst: Relation[] = ['self', 'unknown', 'creator', 'other', 'operator']

/** Whether the requester had no part in how the device came to be. */
export const isSeparated = (relation: Relation): boolean => relation === 'other' || relation === 'operator'

export type FoundRelation = { relation: Relation; root?: KeyRow }

/**
 * How a requesting key is related to the root keys behind a source, and the root that is related most closely. `self` also if
 * the requesting key created a root, directly or not, because its owner has both. A person at the page is related to the keys
 * behind their device and their role as an agent is, never as `self`. `unknown` if a key, a device or an
 * appointment on the way was not recorded, or another program has changed its row. Reads each key once, so this is for one
 * reading of many sources, and not to be kept.
 */
export const relationsTo = (
  deps: Within,
  requestedBy: number,
): ((source: Source) => Promise<FoundRelation>) => {
  const read = new Map<number, Promise<KeyRow | undefined>>()
  const once: Deps = {
    ...deps,
    keyOf: (id) => {
      const row = read.get(id) ?? authenticKey(deps, id)
      read.set(id, row)
      return row
    },
  }
  const readAsker = async (): Promise<Asker> => {
    const named = requestedBy > 0 ? await readKey(once, requestedBy) : undefined
    const above = await aboveRequester(once, requestedBy)
    return { ...above, root: named && rootOf(named), people: new Set(peopleOf(above)) }
  }
  let asker: Promise<Asker> | undefined
  return async (source) => {
    const found = await follow(once, source)
    asker ??= readAsker()
    const known = await asker
    const related: FoundRelation[] = found.isWhole ? [] : [{ relation: 'unknown' }]
    for (const enroller of found.keys.values())
      related.push({ relation: await relate(once, known, { enroller, roles: found.roles }), root: enroller })
    return related.sort((a, b) => fromWorst.indexOf(a.relation) - fromWorst.indexOf(b.relation))[0]!
  }
}

/** As `relationsTo`, of one source. */
export const findRelation = (deps: Deps, requestedBy: number, source: Source): Promise<FoundRelation> =>
  relationsTo(deps, requestedBy)(source)
