import type { Rule } from '../../contract/rule-shape.ts'
import type { OperationId } from '../../contract/table.ts'
import { canonicalData } from '../../receipt/subject.ts'
import type { Call } from '../call/call.ts'
import { quotedName } from '../devices/notices.ts'
import { named } from '../devices/seats.ts'
import { callingIn, isAuthenticKey } from '../keys/rows.ts'
import { type Book, readBook } from '../policy/group-rows.ts'
import { emergencyLinesOf, linesOf } from '../policy/rules.ts'
import { peopleText } from './people-text.ts'

type Fields = Record<string, unknown>

/** Fields of a subject, each of which replaces the field of the input with this name. */
type Change = { before: Fields; after: Fields }

type Members = { name: string; members: readonly number[] }

/** Who is in a group after a change of it, by user id. */
const results: Partial<Record<OperationId, (members: number[], user: number) => number[]>> = {
  addGroupMember: (members, user) => [...members, user].toSorted((a, b) => a - b),
  removeGroupMember: (members, user) => members.filter((id) => id !== user),
  deleteGroup: () => [],
}

const groupTexts = (call: Call, org_id: number, groups: readonly Members[]): Promise<string[]> =>
  Promise.all(
    groups.map(
      async ({ name, members }) =>
        `${name}: ${(await peopleText(call, org_id, [...new Set(members)])).join(', ') || 'nobody'}`,
    ),
  )

/** Who is in the groups that rules ask, but for those that the same call changes and shows. */
const asksOf = (
  call: Call,
  org_id: number,
  book: Book,
  rules: readonly Rule[],
  changing: readonly Members[] = [],
) => {
  const lines = rules.flatMap((rule) => [...linesOf(book, rule), ...emergencyLinesOf(book, rule)])
  const members = new Map(lines.flatMap((line) => (line.group ? [[line.group.name, line.members]] : [])))
  for (const { name } of changing) members.delete(name)
  return groupTexts(
    call,
    org_id,
    [...members].map(([name, all]) => ({ name, members: all })),
  )
}

/** The keys that rules name by their ids, of this organization or of the operator. */
const keyTexts = async ({ db, keyring }: Call, org_id: number, rules: readonly Rule[]): Promise<string[]> => {
  const ids = [...new Set(rules.flatMap(({ match }) => match.key ?? []))]
  const rows = await db
    .selectFrom('api_keys')
    .where('id', 'in', [0, ...ids.map(Number)])
    .where(callingIn(org_id))
    .selectAll()
    .execute()
  const names = new Map(
    rows.filter((row) => isAuthenticKey(keyring, row)).map(({ id, name }) => [String(id), quotedName(name)]),
  )
  return ids.map((id) => `${names.get(id) ?? 'unknown'} (key ${id})`)
}

const isNothing = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** Leaves out fields that are empty before and after. */
const changed = ({ before, after }: Change): Change => {
  const shown = Object.keys(after).filter((name) => !isNothing(after[name]) || !isNothing(before[name] ?? []))
  const pick = (from: Fields): Fields =>
    Object.fromEntries(shown.flatMap((name) => (name in from ? [[name, from[name]]] : [])))
  return { before: pick(before), after: pick(after) }
}

/** The parts of rules, each a line of its own, so that people see which of them changes. */
const partsOf = (rules: readonly Rule[]): Fields =>
  Object.fromEntries(
    rules.flatMap(({ name, ...parts }) =>
      Object.entries(parts).map(([part, value]) => [`rule.${name}.${part}`, value]),
    ),
  )

const isSame = (one: unknown, other: unknown): boolean =>
  other !== undefined && canonicalData(one) === canonicalData(other)

/** The members of groups, a field for each group, so that people see who joins it and who leaves. */
const membersOf = async (call: Call, org_id: number, groups: readonly Members[]): Promise<Fields> =>
  Object.fromEntries(
    await Promise.all(
      groups.map(async ({ name, members }) => [
        `group.${name}`,
        await peopleText(call, org_id, [...new Set(members)]),
      ]),
    ),
  )

const ofSeveral = async (call: Call, input: Fields, book: Book, org_id: number): Promise<Change> => {
  const groups = (input['groups'] ?? []) as readonly Members[]
  const rules = (input['rules'] ?? []) as readonly Rule[]
  const removed = (input['removed'] ?? []) as readonly string[]
  const present = groups.flatMap(({ name }) => named(book.groups, name) ?? [])
  const names = [...rules.map(({ name }) => name), ...removed]
  const now = partsOf(rules)
  const old = book.rules.flatMap(({ rule }) => (names.includes(rule.name) ? [rule] : []))
  // A part that a rule gets is marked, too, and so is all of a new rule.
  const none = Object.fromEntries(Object.keys(now).map((part) => [part, 'none']))
  const then = Object.entries({ ...none, ...partsOf(old) }).filter(
    ([part, value]) => !isSame(value, now[part]),
  )
  const gone = then.filter(([part]) => !Object.hasOwn(now, part)).map(([part]) => [part, 'removed'])
  return changed({
    before: {
      ...Object.fromEntries(groups.map(({ name }) => [`group.${name}`, []])),
      ...(await membersOf(call, org_id, present)),
      ...Object.fromEntries(then),
    },
    after: {
      name: [...groups.map(({ name }) => `@${name}`), ...names].join(', '),
      // In fields of their own instead.
      groups: undefined,
      ...(await membersOf(call, org_id, groups)),
      asks: await asksOf(call, org_id, book, rules, groups),
      keys: await keyTexts(call, org_id, rules),
      removed,
      // In parts instead.
      rules: undefined,
      ...Object.fromEntries(gone),
      ...now,
    },
  })
}

/**
 * A change of rules and groups in words and whole, for the people who approve it, with what it replaces. So an approval is
 * valid only while everything is as they saw it. Undefined for any other call, and for what does not exist.
 */
export const readRuleChange = async (
  call: Call,
  id: OperationId,
  input: Fields,
  org_id: number,
): Promise<Change | undefined> => {
  if (id === 'createGroup') {
    const members = [...new Set(input['members'] as number[])]
    return { before: {}, after: { members: await peopleText(call, org_id, members) } }
  }
  const result = results[id]
  if (!result && id !== 'createRule' && id !== 'setRules' && id !== 'deleteRule') return undefined
  const book = await readBook(call, org_id)
  if (id === 'createRule') {
    const rules = [input as Rule]
    return changed({
      before: {},
      after: { asks: await asksOf(call, org_id, book, rules), keys: await keyTexts(call, org_id, rules) },
    })
  }
  if (id === 'setRules') return ofSeveral(call, input, book, org_id)
  const name = String(input['name'])
  if (id === 'deleteRule') {
    const before = partsOf(book.rules.flatMap(({ rule }) => (rule.name === name ? [rule] : [])))
    return { before, after: Object.fromEntries(Object.keys(before).map((part) => [part, 'removed'])) }
  }
  const group = result && named(book.groups, name)
  if (!group) return undefined
  return {
    before: { members: await peopleText(call, org_id, group.members) },
    after: { members: await peopleText(call, org_id, result(group.members, Number(input['user_id']))) },
  }
}
