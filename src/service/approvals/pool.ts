import { mostAsked } from '../../contract/approvers.ts'
import type { Policy } from '../../contract/policy.ts'
import { hiddenNumber } from '../../core/phone-parts.ts'
import { conflict, invalid, Refusal } from '../../core/refusal.ts'
import { asRefusal, type Call, type RequiredLine } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { policyOf, requireOwnSlug } from '../call/tenant.ts'
import { countedDevices, ofActiveDevice } from '../devices/active.ts'
import { findConfirmedOwners } from '../devices/origin.ts'
import { hasActiveDevice } from '../devices/proof.ts'
import { relationsTo } from '../devices/relation.ts'
import { within } from '../keys/ancestry.ts'
import { mergedLines, peopleIn } from '../policy/rules.ts'
import { activeMembers, type Approver, noDevice, readOwn } from './find-approver.ts'
import { type Asking, checkLimits } from './limits.ts'
import { type Excluded, isOwnConsent, quietIn, type StoredLine } from './lines.ts'
import { isEnough, markAway, namedAway, notifiedOf, readAway } from './pool-away.ts'
import { checkDevices, checkRequester, countsOn, readRequester, type Requester } from './separation.ts'

export type Pool = {
  org_id: number
  slug: string
  policy: Policy
  lines: StoredLine[]
  /** Everybody who is asked, in the order of the lines. */
  people: Approver[]
  excluded: Excluded[]
}

/** Why this person is not asked; undefined if they are. */
const problemOf = async (
  call: Call,
  person: Approver,
  { policy, byRule, asker, ...asking }: Asking & { policy: Policy; asker: Requester },
): Promise<Refusal | undefined> => {
  try {
    if (!(await hasActiveDevice(call, person))) throw noDevice(person.user_id)
    checkRequester(asker, person, policy, byRule)
    await checkDevices(call, asker, person, policy)
    await checkLimits(call, person, { byRule, ...asking })
    return undefined
  } catch (error) {
    return asRefusal(error)
  }
}

/** Why a person does not count on a line of a group or a rule; undefined if they do. */
const unseparated = async (
  call: Call,
  person: Approver,
  owners: ReadonlySet<number>,
  relationTo: ReturnType<typeof relationsTo>,
): Promise<string | undefined> => {
  const { caller } = call
  if (owners.has(person.user_id))
    return person.user_id === (caller.person?.user_id ?? caller.ownerId)
      ? 'is the requester'
      : 'stands behind the requester: created or connected the key, or admitted its person or their phone'
  for (const { id } of await countedDevices(call, person).where(ofActiveDevice('devices')).execute()) {
    const { relation } = await relationTo({ device: id })
    if (countsOn({ separated: true }, relation)) return undefined
  }
  return 'has only devices that go back to the requesting key, or to an unrecorded key'
}

const notEnough = (
  orgId: number,
  {
    without,
    lines,
    wanted,
  }: { without: readonly Excluded[]; lines: readonly StoredLine[]; wanted: readonly RequiredLine[] },
): Refusal => {
  const rules = [...new Set(wanted.flatMap((line) => line.rules))].join(', ')
  const need = lines.reduce((sum, line) => sum + line.need, 0)
  const able = [...new Set(lines.flatMap(({ people }) => people.map(({ name }) => name)))]
  const only = able.length === 0 ? 'nobody can' : `only ${able.join(', ')} can`
  const each = lines.length > 1 ? ', each for one group' : ''
  const why = [...new Set(without.map(({ name, reason }) => `${name}: ${reason}`))]
  const group = wanted.find((line) => line.group)?.group?.name ?? 'NAME'
  return conflict(
    'not_enough_approvers',
    `Too few people can answer: ${need} must agree${each}, and ${only}${why.map((one) => `; ${one}`).join('')}`,
    rules === ''
      ? 'Nobody was notified. Name other people or groups: --to'
      : `Nobody was notified. Rules ask them: ${rules}. svc group add ${group} --user ID --org ${orgId} adds somebody to the group`,
  )
}

/** Who was left out of which line, and why. */
type LeftOut = Excluded & { line: number }

export type Considered = Omit<Pool, 'excluded'> & {
  /** Everybody in each line, asked or not. */
  considered: { user_id: number; name: string }[][]
  /** Those of them who are away, and until when. */
  away: ReadonlyMap<number, string>
  excluded: LeftOut[]
  /** Why the others cannot complete the request; undefined if they can. */
  problem?: Refusal
}

/** Who could be asked now, and who would be left out, with the reason. */
export const considerPool = async (
  call: Call,
  { orgId, lines: wanted }: { orgId: number; lines: readonly RequiredLine[] },
  asking: Asking,
): Promise<Considered> => {
  // The operator is trusted: nobody is kept from answering their requests.
  const isTrusted = isOperator(call.caller)
  const lines = mergedLines(wanted.map((line) => ({ ...line, separated: line.separated && !isTrusted })))
  const ids = [...peopleIn(lines)]
  if (ids.length > mostAsked)
    throw invalid('approvers', `name ${ids.length} people; one request can ask ${mostAsked}`)
  const found =
    ids.length === 0 ? [] : await readOwn(call, activeMembers(call, orgId).where('m.user_id', 'in', ids))
  const byId = new Map(found.map((one) => [one.user_id, one]))
  const { slug, policy: policyText, org_mac: row_mac } = found[0] ?? { slug: '', policy: '{}' }
  if (row_mac !== undefined) requireOwnSlug(call, { id: orgId, slug, row_mac })
  const stored = policyOf({ slug, policy: policyText })
  const policy = isOwnConsent(asking.byRule, lines) ? { ...stored, not_requester: false } : stored
  const owners =
    !asking.breaksGlass && lines.some(({ separated }) => separated)
      ? await findConfirmedOwners(within(call, orgId), namedKeyOf(call.caller))
      : new Set<number>()
  if (call.caller.person) owners.add(call.caller.person.user_id)
  const asker = await readRequester(call, orgId, policy)
  const problems = new Map<number, Refusal>()
  for (const person of found) {
    const problem = await problemOf(call, person, { policy, asker, ...asking })
    if (problem) problems.set(person.user_id, problem)
  }
  const nameFor = (user_id: number): string => {
    const person = byId.get(user_id)
    return person ? `${person.first_name} ${person.last_name}` : `User ${user_id}`
  }
  const { relationTo } = asker
  const excluded: LeftOut[] = []
  /** At a limit of the requester. They are asked, so that no key can leave one of several alone, and not notified. */
  const limited: LeftOut[] = []
  const asked: StoredLine[] = []
  for (const [at, { members, ...line }] of lines.entries()) {
    const people: StoredLine['people'] = []
    for (const user_id of members) {
      const person = byId.get(user_id)
      const problem = problems.get(user_id)
      const isLimited = problem?.status === 429
      const reason = person
        ? ((isLimited ? undefined : problem?.message) ??
          (line.separated ? await unseparated(call, person, owners, relationTo) : undefined))
        : 'is not an active user with a device'
      const name = nameFor(user_id)
      if (reason !== undefined) {
        excluded.push({ line: at, user_id, name, reason })
        continue
      }
      if (isLimited) limited.push({ line: at, user_id, name, reason: problem.message })
      const quiet = isLimited && { quiet: true as const }
      people.push({ user_id, name, mobile: hiddenNumber(person!.mobile), ...quiet })
    }
    asked.push({ ...line, people })
  }
  const pool = new Set(asked.flatMap(({ people }) => people.map(({ user_id }) => user_id)))
  const away = await readAway(call, { orgId, lines: wanted }, asking)
  const all = markAway(asked, away)
  const quiet = quietIn(all)
  const considered = {
    org_id: orgId,
    slug,
    policy,
    lines: all,
    // The first one stands for all where a reader knows one approver.
    people: ids
      .filter((id) => pool.has(id))
      .toSorted((one, other) => Number(quiet.has(one)) - Number(quiet.has(other)))
      .map((id) => byId.get(id)!),
    away,
    considered: lines.map(({ members }) => members.map((user_id) => ({ user_id, name: nameFor(user_id) }))),
    excluded,
  }
  if (isEnough(notifiedOf(asked))) {
    const problem = namedAway(asked, away)
    return problem ? { ...considered, problem } : considered
  }
  // Without the limits, they would be enough, so waiting helps. Each of them is free again at another time.
  const waits = isEnough(asked) ? limited.map(({ user_id }) => problems.get(user_id)!) : []
  const [soonest] = waits.toSorted((one, other) => waitOf(one) - waitOf(other))
  // The refusal of the only person says exactly what to do.
  const exact = ids.length === 1 ? problems.get(ids[0]!) : undefined
  const without = [...excluded, ...limited]
  const problem = soonest ?? exact ?? notEnough(orgId, { without, lines: notifiedOf(asked), wanted: lines })
  return { ...considered, problem }
}

const waitOf = ({ headers }: Refusal): number => Number(headers['retry-after'] ?? Infinity)

/**
 * Freezes who is asked. Leaves out whoever cannot be asked now, with the reason, and fails before anybody is notified if the
 * others cannot complete the request.
 */
export const choosePool = async (...asked: Parameters<typeof considerPool>): Promise<Pool> => {
  const { considered: _, away: __, problem, excluded, ...pool } = await considerPool(...asked)
  if (problem) throw problem
  return { ...pool, excluded: excluded.map(({ line: _line, ...rest }) => rest) }
}
