import { mostRules, type Rule } from '../../contract/rule-shape.ts'
import { conflict, invalid, notFound } from '../../core/refusal.ts'
import { clashingReason } from '../../rules/terms.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { awakeAmong, named } from '../devices/seats.ts'
import { unheardOf } from '../devices/unheard.ts'
import { type Book, readBook, writeRules } from '../policy/group-rows.ts'
import type { StoredRule } from '../policy/known-heads.ts'
import type { KnownFactors } from '../policy/unchecked-factors.ts'
import { emergencyLinesOf, isNew, linesOf, peopleIn, ruleDigest } from '../policy/rules.ts'
import { create, type Demand, setMembers } from './groups.ts'
import { checkKeys, checkRule } from './rule-input.ts'
import { type Change, demandForChanges, notifyChange } from './rule-changes.ts'
import {
  refuseClash,
  requireCompletable,
  requireEnoughMembers,
  requireFewEnough,
} from './rule-completable.ts'

const recordOf = (org_id: number, { rule, created_at }: StoredRule) => ({
  ...rule,
  org_id,
  digest: ruleDigest(rule),
  created_at,
})

const findRule = ({ rules }: Book, org_id: number, name: string): StoredRule => {
  const found = rules.find(({ rule }) => rule.name === name)
  if (found) return found
  throw notFound(`Rule ${name}`, `svc rule list --org ${org_id} lists the rules`)
}

export const listRules: HandlerOf<'listRules'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const { after, limit } = call.page
  const rules = (await readBook(call, org_id)).rules.map((one, at) => ({ one, at: at + 1 }))
  const rest = rules.filter(({ at }) => at > after).slice(0, limit + 1)
  return call.paged(rest, ({ at }) => at).map(({ one }) => recordOf(org_id, one))
}

export const getRule: HandlerOf<'getRule'> = async ({ org_id, name }, call) => {
  await reachOrganization(call, org_id)
  return recordOf(org_id, findRule(await readBook(call, org_id), org_id, name))
}

/** Whom a rule asks, also in an emergency, by user id. */
const peopleOf = (book: Book, rules: readonly Rule[]): number[] => [
  ...peopleIn(rules.flatMap((rule) => [...linesOf(book, rule), ...emergencyLinesOf(book, rule)])),
]

type RuleChange = { before?: StoredRule; after?: Rule }

/** Whether somebody is no longer in a group. */
const hasLost = (before: Book, after: Book, name: string): boolean => {
  const { members = [] } = named(after.groups, name) ?? {}
  return named(before.groups, name)?.members.some((id) => !members.includes(id)) ?? false
}

/** Demands the approvals for changes of rules, writes them, and notifies everybody concerned. */
const changeRules = async (
  call: Call,
  org_id: number,
  changes: readonly RuleChange[],
  { before, now, demand = demandForChanges }: { before: Book; now: Book; demand?: Demand },
): Promise<StoredRule[]> => {
  const all = [...now.rules, ...changes.flatMap(({ after }) => (after ? [{ rule: after }] : []))]
  const awake = await awakeAmong(
    call,
    org_id,
    peopleOf(
      now,
      all.map(({ rule }) => rule),
    ),
  )
  const known: KnownFactors = new Map()
  for (const { after: rule } of changes)
    if (rule) await requireCompletable(call, org_id, { book: now, rule, awake, known })
  const ofRules = changes.map(({ after, before: old }): Change => {
    const endsNew = old !== undefined && !after && isNew(old, call, org_id)
    return { weakened: old && !endsNew ? [old.rule] : [], endsNew }
  })
  await demand(call, org_id, before, ofRules)
  const changed = new Map(changes.map((one) => [one.before?.rule.name ?? one.after!.name, one]))
  const stored = (rule: Rule, created_at = call.now): StoredRule => ({ rule, created_at })
  const kept = now.rules.flatMap((one) => {
    const change = changed.get(one.rule.name)
    if (!change) return [one]
    return change.after ? [stored(change.after, one.created_at)] : []
  })
  const added = changes.flatMap(({ before: old, after }) => (old || !after ? [] : [stored(after)]))
  const rules = [...kept, ...added]
  if (rules.length > mostRules)
    throw conflict(
      'too_many_rules',
      `An organization can have ${mostRules} rules`,
      'Delete rules that nobody needs',
    )
  refuseClash({ ...now, rules }, new Set(changes.flatMap(({ after }) => after?.name ?? [])), awake)
  for (const { after } of changes) {
    const clash =
      after &&
      clashingReason(
        rules.map(({ rule }) => rule),
        after,
      )
    if (clash)
      throw conflict(
        'rule_not_completable',
        `The rules ${after.name} and ${clash.name} hold the same calls, and no reason matches both ${after.reason?.pattern} and ${clash.reason?.pattern}`,
        'Give both the same pattern of the reason, or hold other operations',
      )
  }
  await writeRules(call, org_id, rules)
  const names = changes.map(({ before: old, after }) => (after ?? old!.rule).name)
  for (const name of names) await call.audit(org_id, `rule:${name}`)
  const members = [
    ...peopleOf(
      before,
      changes.flatMap((one) => one.before?.rule ?? []),
    ),
    ...peopleOf(
      now,
      changes.flatMap(({ after }) => after ?? []),
    ),
  ]
  const [first, ...others] = names
  const what =
    others.length === 0 ? `The rule ${first}` : `Each of the rules ${first} and ${others.length} more`
  await notifyChange(call, org_id, { what, members })
  return rules.filter(({ rule }) => changes.some(({ after }) => after?.name === rule.name))
}

export const createRule: HandlerOf<'createRule'> = async ({ org_id, ...rule }, call) => {
  await reachOrganization(call, org_id)
  const book = await readBook(call, org_id)
  checkRule(book, org_id, rule)
  await checkKeys(call, org_id, rule)
  if (book.rules.some((one) => one.rule.name === rule.name))
    throw conflict(
      'rule_exists',
      `The rule ${rule.name} already exists`,
      `To change it, edit the output of svc export and use svc apply; or: svc rule get ${rule.name} --org ${org_id}`,
    )
  const [stored] = await changeRules(call, org_id, [{ after: rule }], { before: book, now: book })
  const unheard = rule.break_glass === undefined ? [] : await unheardOf(call, org_id, linesOf(book, rule))
  return { ...recordOf(org_id, stored!), ...(unheard.length > 0 && { unheard }) }
}

export const deleteRule: HandlerOf<'deleteRule'> = async ({ org_id, name }, call) => {
  await reachOrganization(call, org_id)
  const book = await readBook(call, org_id)
  await changeRules(call, org_id, [{ before: findRule(book, org_id, name) }], { before: book, now: book })
}

/** Who must agree depends on what each change is, so none may hide behind another one of the same name. */
const refuseRepeated = (field: 'rules' | 'groups', names: readonly string[]): void => {
  const repeated = names.find((name, at) => names.indexOf(name) < at)
  if (repeated !== undefined) throw invalid(field, `must name each once: "${repeated}"`)
}

/** Groups that are created come first and those that are deleted last, because rules ask them. */
export const setRules: HandlerOf<'setRules'> = async (
  { org_id, rules = [], removed = [], groups: groupChanges = [] },
  call,
) => {
  await reachOrganization(call, org_id)
  if (rules.length + removed.length + groupChanges.length === 0)
    throw invalid('rules', 'must name a rule or a group to change')
  refuseRepeated('rules', [...rules.map(({ name }) => name), ...removed])
  refuseRepeated(
    'groups',
    groupChanges.map(({ name }) => name),
  )
  const before = await readBook(call, org_id)
  const groups: Awaited<ReturnType<typeof create>>[] = []
  const demanded: Change[] = []
  const demand: Demand = async (_call, _org, _book, more) => void demanded.push(...more)
  const setGroup = async ({ name, members }: (typeof groupChanges)[number]) => {
    const group = named(before.groups, name)
    if (!group && members.length === 0) throw notFound(`Group ${name}`)
    groups.push(
      await (group
        ? setMembers(call, group, members, demand)
        : create(call, { org_id, name, members }, demand)),
    )
  }
  for (const one of groupChanges) if (one.members.length > 0) await setGroup(one)
  const now = await readBook(call, org_id)
  for (const [at, rule] of rules.entries()) {
    checkRule(now, org_id, rule, `rules[${at}].`)
    await checkKeys(call, org_id, rule, `rules[${at}].`)
  }
  const changes: RuleChange[] = [
    ...rules.map((after): RuleChange => {
      const old = before.rules.find(({ rule }) => rule.name === after.name)
      return old ? { before: old, after } : { after }
    }),
    ...removed.map((name): RuleChange => ({ before: findRule(before, org_id, name) })),
  ]
  const stored = changes.length > 0 ? await changeRules(call, org_id, changes, { before, now, demand }) : []
  for (const one of groupChanges) if (one.members.length === 0) await setGroup(one)
  await demandForChanges(call, org_id, before, demanded)
  const after = await readBook(call, org_id)
  const changed = groupChanges.map(({ name }) => name)
  requireFewEnough(org_id, after, changed)
  requireEnoughMembers(
    org_id,
    after,
    changed.filter((name) => hasLost(before, after, name)),
  )
  return { rules: stored.map((one) => recordOf(org_id, one)), groups }
}
