import type { Rule } from '../../contract/rule-shape.ts'
import { invalid, notFound } from '../../core/refusal.ts'
import type { Facts } from '../../rules/match.ts'
import { nearMisses } from '../../rules/near-misses.ts'
import { termsOf } from '../../rules/terms.ts'
import { waysAround } from '../../rules/ways-around.ts'
import { asRefusal, type Call, type HandlerOf } from '../call/call.ts'
import { type Caller, isOperator } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { reachOrganization } from '../call/tenant.ts'
import { unheardOf } from '../devices/unheard.ts'
import { authenticKey, within } from '../keys/ancestry.ts'
import { callerOfKey } from '../keys/authenticator.ts'
import { isRestrictedAmong } from '../policy/factor-settings.ts'
import { readBook } from '../policy/group-rows.ts'
import { requirementOf } from '../policy/rules.ts'
import { rulesHolding } from './holding.ts'
import { quietIn } from './lines.ts'
import { type Considered, considerPool } from './pool.ts'
import { requiredFactors } from './required-factors.ts'
import { requesterProblem } from './rules-of-request.ts'

type Test = RowInput<'testRule'>

const needed = (name: keyof Test, type: Test['type']) => invalid(name, `is required for a ${type}`)

/** What is tested, in the words of the input. */
const factsOf = ({ type, ...test }: Test): Facts => {
  if (type === 'command') {
    const { argv, cwd = '/' } = test
    if (!argv || argv.length === 0) throw needed('argv', type)
    return { type, argv, cwd, executable: argv[0]!, hasVariables: false }
  }
  if (type === 'tool_call') {
    if (test.server === undefined || test.tool === undefined)
      throw needed(test.server === undefined ? 'server' : 'tool', type)
    return { type, server: test.server, tool: test.tool, arguments: test.arguments ?? {} }
  }
  const field = { text: 'text', request: 'operation', file: 'file' } as const
  const value = test[field[type]]
  if (value === undefined) throw needed(field[type], type)
  return { type, [field[type]]: value } as Facts
}

/** The key that would ask, as its calls would be: of this organization, or like the caller of none. */
const callerOf = async (call: Call, orgId: number, key: number | undefined): Promise<Caller> => {
  if (key === undefined) return call.caller
  const row = await authenticKey(within(call, orgId), key)
  if (!row || (row.org_id === null && call.caller.orgId !== null))
    throw notFound('Key', 'svc key list lists the keys')
  return callerOfKey(row)
}

const peopleOf = ({ considered, excluded, away, lines }: Considered, at: number) => {
  const unnotified = quietIn(lines)
  const left = new Map(excluded.filter(({ line }) => line === at).map((one) => [one.user_id, one.reason]))
  return considered[at]!.map(({ user_id, name }) => ({
    user_id: String(user_id),
    name,
    excluded: left.get(user_id) ?? null,
    away_until: away.get(user_id) ?? null,
    notified: !left.has(user_id) && !unnotified.has(user_id),
  }))
}

/** Tells who would be asked, and asks nobody. */
export const testRule: HandlerOf<'testRule'> = async ({ org_id, ...test }, call) => {
  await reachOrganization(call, org_id)
  const facts = factsOf({ org_id, ...test })
  const caller = await callerOf(call, org_id, test.key)
  const as: Call = { ...call, caller }
  const book = await readBook(call, org_id)
  const written = book.rules.map(({ rule }) => rule)
  const rules: Rule[] = await rulesHolding(as, book, { facts, caller, orgId: org_id })
  const bare = book.rules.map((one) => ({ ...one, rule: { ...one.rule, except: undefined } }))
  const near = await rulesHolding(as, { rules: bare }, { facts, caller, orgId: org_id })
  const required = requirementOf(org_id, book, { holding: rules })
  const wanted = { orgId: org_id, lines: [...required.lines] }
  const terms = termsOf(rules)!
  const pool = await considerPool(as, wanted, {
    requester: caller.name,
    lifetime_s: terms.lifetime_s,
    byRule: facts.type === 'request',
  })
  const problem =
    (await requesterProblem(as, org_id, rules)) ??
    pool.problem ??
    (await requiredFactors(as, pool, pool.policy, {}, terms.factors).then(() => undefined, asRefusal))
  return {
    rules: required.rules.map(({ name, digest }) => ({ name, digest })),
    excepted: near.map(({ name }) => name).filter((name) => !rules.some((rule) => rule.name === name)),
    lines: pool.lines.map(({ group, need, rules: names }, at) => ({
      group: group?.name ?? null,
      need,
      rules: names,
      people: peopleOf(pool, at),
    })),
    completable: rules.length > 0 && problem === undefined,
    problem:
      rules.length === 0
        ? 'no rule holds this, so the requester names who must approve'
        : (problem?.message ?? null),
    ...terms,
    reasons: rules.flatMap(({ name, reason }) => (reason ? [{ rule: name, ...reason }] : [])),
    near_misses: nearMisses(written, facts),
    ways_around: waysAround(written, {
      facts,
      isTrusted: isOperator(caller),
      holding: rules,
      unheard: rules.some((one) => one.break_glass) ? await unheardOf(as, org_id, required.lines) : [],
      isRestricted: await isRestrictedAmong(call.db, pool.people),
    }),
  }
}
