import { checkedAgainst, type CheckedFactor } from '../../contract/checked-factors.ts'
import type { factors as allFactors } from '../../contract/records.ts'
import { hasPolicy } from '../../factors/decide.ts'
import type { Db } from '../storage/schema.ts'
import { readRestrictions } from './factor-settings.ts'

// Factors that there is nothing to check against: no geofence, no time slot.

type Factor = (typeof allFactors)[number]

/** What each person is checked against, by user id, so that nobody is read twice. */
export type KnownFactors = Map<number, Awaited<ReturnType<typeof readRestrictions>>>

/** Those of the factors that cannot be checked for one of these people of an organization. */
export const findUnchecked = async (
  db: Db,
  people: readonly { org_id: number; user_id: number }[],
  factors: Iterable<Factor>,
  known: KnownFactors = new Map(),
): Promise<CheckedFactor[]> => {
  const wanted = [...factors].filter((factor) => factor !== 'biometric')
  if (wanted.length === 0) return []
  for (const { org_id, user_id } of people)
    if (!known.has(user_id)) known.set(user_id, await readRestrictions(db, { org_id, user_id }))
  return wanted.filter((factor): factor is CheckedFactor =>
    people.some(({ user_id }) => !hasPolicy(known.get(user_id)!, factor)),
  )
}

/** What is missing, in words: `acme has no active geofence to check it against`. */
export const nothingAgainst = (unchecked: readonly CheckedFactor[], slug: string): string =>
  `${slug} has no active ${unchecked.map((factor) => checkedAgainst[factor].noun).join(' and no active ')} to check it against`

/** The commands that add it. */
export const commandsFor = (unchecked: readonly CheckedFactor[], slug: string): string =>
  unchecked.map((factor) => `${checkedAgainst[factor].command} --org ${slug}`).join('; ')
