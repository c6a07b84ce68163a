import { influential } from '../../contract/scopes.ts'
import { type Caller, isOperator } from '../call/caller.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import { ancestorsOf, authenticKey, rootOf } from './ancestry.ts'
import { isOperatorKey } from './scopes.ts'

/**
 * Whether a key can influence who approves, and so could answer its own question: it can enroll devices, make keys, change
 * members or change rules.
 */
export const mayInfluence = (caller: Pick<Caller, 'orgId' | 'scopes'>): boolean =>
  isOperator(caller) || influential.some((scope) => caller.scopes.has(scope))

/** How the key that enrolled a device is related to the key that asks. */
export type Relation = 'self' | 'operator' | 'creator' | 'other' | 'unknown'

/** Whether a key that is not the operator's is above both. */
const shareCreator = async (
  reach: { db: Db; keyring: Keyring },
  above: readonly number[],
  aboveAsked: readonly number[],
): Promise<boolean> => {
  for (const root of above.filter((one) => aboveAsked.includes(one))) {
    const row = await authenticKey(reach, root)
    if (row && !isOperatorKey(row)) return true
  }
  return false
}

/**
 * `self` also where the enrolling key was created by the asking one, directly or not: its owner holds both. `unknown` where
 * nobody recorded which key enrolled the device, or another program has changed one of these keys. Both are row ids of
 * `api_keys`.
 */
export const relationOf = async (
  reach: { db: Db; keyring: Keyring },
  asking: number,
  enrolledBy: number | null,
): Promise<Relation> => {
  const enroller = enrolledBy === null ? undefined : await authenticKey(reach, enrolledBy)
  if (!enroller) return 'unknown'
  const [asked, enrolled] = [await rootOf(reach, asking), enroller.lineage ?? enroller.id]
  if (asked === enrolled) return 'self'
  const above = await ancestorsOf(reach, enrolled)
  // 0 is no key of the store.
  const aboveAsked = asking === 0 ? [] : asked === undefined ? undefined : await ancestorsOf(reach, asked)
  if (!above || !aboveAsked) return 'unknown'
  if (asked !== undefined && above.includes(asked)) return 'self'
  if (isOperatorKey(enroller)) return 'operator'
  // Two keys that one key of an organization created are in one hand.
  if (aboveAsked.includes(enrolled) || (await shareCreator(reach, above, aboveAsked))) return 'creator'
  return 'other'
}
