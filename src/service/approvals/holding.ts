import type { Rule } from '../../contract/rule-shape.ts'
import { type OperationId, table } from '../../contract/table.ts'
import { Refusal } from '../../core/refusal.ts'
import { isHoldable } from '../../rules/check.ts'
import { commandsOf } from '../../rules/commands.ts'
import { type Facts, matcherOf } from '../../rules/match.ts'
import type { Call, Requirement } from '../call/call.ts'
import { type Caller, isOperator, namedKeyOf } from '../call/caller.ts'
import { aboveRequester } from '../devices/origin.ts'
import { rootOf, within, type Within } from '../keys/ancestry.ts'
import type { Book } from '../policy/group-rows.ts'
import type { StoredRule } from '../policy/known-heads.ts'
import { bookOf, isNew, requirementOf } from '../policy/rules.ts'

// Which rules hold a request or a call.

/** The keys that a request goes back to, also by the phone of a person; undefined if they are not known. */
const keysOf = async (own: Within, caller: Caller): Promise<string[] | undefined> => {
  const { keys, isWhole } = await aboveRequester(own, namedKeyOf(caller))
  return isWhole ? [...keys.values()].map((key) => String(rootOf(key))) : undefined
}

/** The rules that hold a request with these facts. */
export const rulesHolding = async (
  call: Pick<Call, 'db' | 'keyring'>,
  { rules }: Pick<Book, 'rules'>,
  { facts, caller, orgId }: { facts: Facts; caller: Caller; orgId: number },
): Promise<Rule[]> => {
  const near = rules.map(({ rule }) => rule).filter(({ match }) => match.type === facts.type)
  const keys = near.some(({ match }) => match.key) ? await keysOf(within(call, orgId), caller) : undefined
  const holds = matcherOf(facts)
  return near.filter((rule) => holds(rule, keys))
}

/** What these change decides whether a factor passes, so it weakens the rules that require the factor. */
const changed: Partial<Record<OperationId, 'location' | 'time'>> = {
  createGeofence: 'location',
  updateGeofence: 'location',
  deleteGeofence: 'location',
  setUserGeofences: 'location',
  addTimeslot: 'time',
  updateTimeslot: 'time',
  deleteTimeslot: 'time',
  setUserTimeslots: 'time',
}

/** The rules that a call makes weaker. All end with the organization. */
const weakenedBy = ({ rules }: Book, id: OperationId): Rule[] => {
  const isWeaker = ({ factors = [] }: Rule) => id === 'deleteOrganization' || factors.includes(changed[id]!)
  return rules.map(({ rule }) => rule).filter(isWeaker)
}

type Deletion = {
  name?: string
  removed?: readonly string[]
  rules?: readonly unknown[]
  groups?: readonly unknown[]
}

/**
 * The rules that can hold a call: not a new one that the call deletes, and no new one at all if the call only deletes new ones,
 * because two could guard each other.
 */
const withoutDeleted = (
  book: Book,
  { name, removed = [], rules = [], groups = [] }: Deletion,
  isFresh: (one: StoredRule) => boolean,
): Pick<Book, 'rules'> => {
  const isDeleted = ({ rule }: StoredRule): boolean => [name, ...removed].includes(rule.name)
  const onlyNew = rules.length + groups.length === 0 && book.rules.filter(isDeleted).every(isFresh)
  return { rules: book.rules.filter((one) => !isFresh(one) || !(onlyNew || isDeleted(one))) }
}

/** Only these change rules and groups. The operator must be able to, or an organization could lock itself out for good. */
const ofRules = /^(?:rule|group) /

/** What the operator can also end in an organization whose rules another program has changed. */
const ends: ReadonlySet<OperationId> = new Set(['deleteOrganization', 'revokeKey', 'revokeDevice'])

/** Who must approve a call in this organization; undefined if no rule holds it. */
export const findRequirement = async (
  call: Pick<Call, 'db' | 'keyring' | 'preconditions' | 'caller' | 'now'>,
  orgId: number,
  { id, input }: { id: OperationId; input: Readonly<Record<string, unknown>> },
): Promise<Requirement | undefined> => {
  if (!isHoldable(id)) return undefined
  const { caller } = call
  const isTrusted = isOperator(caller)
  if (isTrusted && ofRules.test(table[id].cli)) return undefined
  const book = await bookOf(call, orgId).catch((error: unknown) => {
    if (isTrusted && ends.has(id) && error instanceof Refusal) return undefined
    throw error
  })
  if (!book) return undefined
  const holding = new Set<Rule>()
  const able =
    id === 'deleteRule' || id === 'setRules'
      ? withoutDeleted(book, input, (one) => isNew(one, call, orgId))
      : book
  for (const operation of commandsOf(id, input))
    for (const rule of await rulesHolding(call, able, {
      facts: { type: 'request', operation },
      caller,
      orgId,
    }))
      holding.add(rule)
  const weakened = isTrusted ? [] : weakenedBy(book, id)
  return holding.size + weakened.length === 0
    ? undefined
    : requirementOf(orgId, book, { holding: [...holding], weakened })
}
