import { parseLine } from '../../contract/approvers.ts'
import type { Policy } from '../../contract/policy.ts'
import { hiddenNumber } from '../../core/phone-parts.ts'
import { conflict, invalid, Refusal } from '../../core/refusal.ts'
import type { Call, RequiredLine } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { reachOrganization } from '../call/tenant.ts'
import { countedDevices, ofActiveDevice } from '../devices/active.ts'
import { findConfirmedOwners } from '../devices/origin.ts'
import { hasActiveDevice } from '../devices/proof.ts'
import { relationsTo } from '../devices/relation.ts'
import { readGroup } from '../devices/seats.ts'
import { mergedLines } from '../policy/rules.ts'
import { activeMembers, type Approver, findApprover, notEnrolled } from './find-approver.ts'
import { checkLimits } from './limits.ts'
import { type Excluded, isOwnConsent, type StoredLine } from './lines.ts'
import { isEnough, markAway, namedAway, readAway } from './pool-away.ts'
import { checkDevices, checkRequester, countsOn } from './separation.ts'

/** People whose phones one request can reach. */
const mostPool = 40

export type Pool = {
  org_id: number
  slug: string
  policy: Policy
  lines: StoredLine[]
  /** Everybody who is asked, in the order of the lines. */
  people: Approver[]
  excluded: Excluded[]
}

/** The organization of a request: that of the first person it names, who comes with it, or the one that the call means. */
const organizationOf = async (
  call: Call,
  texts: readonly string[],
  org_id: number | undefined,
): Promise<{ orgId: number; first?: Approver }> => {
  const named = texts.map(parseLine).find((line) => line.group === undefined)
  if (named?.group === undefined && named !== undefined && named.people.length === 1) {
    const first = await findApprover(call, named.people[0]!, org_id)
    return { orgId: first.org_id, first }
  }
  const meant = org_id ?? call.caller.orgId
  if (meant === null && texts.length === 0)
    throw invalid(
      'approvers',
      'must name somebody: without an organization, no rule holds this request',
      'Name a person with --to +12025550101, or the organization with --org',
    )
  if (meant === null)
    throw invalid('org_id', 'is required unless the first line is the number of one person', 'Add --org')
  await reachOrganization(call, meant)
  return { orgId: meant }
}

/** The line of a group. Who has no device is left out later, with the reason. */
const groupLine = async (
  call: Call,
  orgId: number,
  { group, need }: { group: string; need: number },
): Promise<RequiredLine> => {
  const { id, name, members, asleep } = await readGroup(call, orgId, group)
  return { members: [...members, ...asleep], need, group: { id, name }, rules: [], separated: true }
}

/** The lines that a requester named, in one organization. Fails with a Refusal for a person or a group that it lacks. */
export const wantedLines = async (
  call: Call,
  texts: readonly string[],
  org_id: number | undefined,
): Promise<{ orgId: number; lines: RequiredLine[] }> => {
  const { orgId, first } = await organizationOf(call, texts, org_id)
  const lines: RequiredLine[] = []
  for (const line of texts.map(parseLine)) {
    if (line.group !== undefined) {
      lines.push(await groupLine(call, orgId, line))
      continue
    }
    const isFirst = first !== undefined && line.people.join() === first.mobile
    const found = isFirst
      ? [first]
      : await activeMembers(call, orgId).where('p.mobile', 'in', line.people).execute()
    if (found.length < line.people.length) throw notEnrolled('phone')
    const members = found.map(({ user_id }) => user_id)
    lines.push({ members, need: line.need, group: null, rules: [], separated: false })
  }
  return { orgId, lines }
}

/**
 * What else counts of a request. `byRule`: the service itself requests the approval that a call requires. `breaksGlass`: the
 * requester may answer.
 */
type Asking = { requester: string; lifetime_s: number; byRule: boolean; breaksGlass?: boolean }

/** Why this person is not asked; undefined if they are. */
const problemOf = async (
  call: Call,
  person: Approver,
  { policy, byRule, ...asking }: Asking & { policy: Policy },
): Promise<Refusal | undefined> => {
  try {
    if (!(await hasActiveDevice(call, person))) throw notEnrolled('phone')
    await checkRequester(call, person, policy, byRule)
    await checkDevices(call, person, policy)
    await checkLimits(call, person, asking)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Why a person does not count on a line of a group or a rule; undefined if they do. */
const unseparated = async (
  call: Call,
  person: Approver,
  owners: ReadonlySet<number>,
  relationTo: ReturnType<typeof relationsTo>,
): Promise<string | undefined> => {
  if (owners.has(person.user_id)) return 'is the requester'
  for (const { id } of await countedDevices(call, person).where(ofActiveDevice('devices')).execute()) {
    const { relation } = await relationTo({ device: id })
    if (countsOn({ separated: true }, relation)) return undefined
  }
  return 'has only devices that go back to the requesting key, or to an unrecorded key'
}

const nameOf = ({ first_name, last_name }: Pick<Approver, 'first_name' | 'last_name'>): string =>
  `${first_name} ${last_name}`

const notEnough = (excluded: readonly Excluded[], lines: readonly RequiredLine[]): Refusal => {
  const rules = [...new Set(lines.flatMap((line) => line.rules))].join(', ')
  return conflict(
    'not_enough_approvers',
    `Too few people can answer: ${excluded.map(({ name, reason }) => `${name}: ${reason}`).join('; ') || 'the lines need more people than they name'}`,
    rules === ''
      ? 'Nobody was notified. Name other people or groups: --to'
      : `Nobody was notified. Rules ask them: ${rules}. svc group add NAME --user ID adds somebody to a group; svc rule delete NAME deletes a rule`,
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
  const ids = [...new Set(lines.flatMap(({ members }) => members))]
  if (ids.length > mostPool)
    throw invalid('approvers', `name ${ids.length} people; one request can ask ${mostPool}`)
  const found =
    ids.length === 0 ? [] : await activeMembers(call, orgId).where('m.user_id', 'in', ids).execute()
  const byId = new Map(found.map((one) => [one.user_id, one]))
  const { slug, policy: policyText, org_mac: row_mac } = found[0] ?? { slug: '', policy: '{}' }
  if (row_mac !== undefined && !call.keyring.holds('organizations', { id: orgId, slug, row_mac }))
    throw conflict(
      'organization_altered',
      'Another program has changed the slug of the organization in the store, so nobody can approve for it',
      `Ask the operator to set it again: svc org update ${orgId} --slug SLUG`,
    )
  const stored = JSON.parse(policyText) as Policy
  const policy = isOwnConsent(asking.byRule, lines) ? { ...stored, not_requester: false } : stored
  const owners =
    !asking.breaksGlass && lines.some(({ separated }) => separated)
      ? await findConfirmedOwners(call, namedKeyOf(call.caller))
      : new Set<number>()
  if (call.caller.person) owners.add(call.caller.person.user_id)
  const problems = new Map<number, Refusal>()
  for (const person of found) {
    const problem = await problemOf(call, person, { policy, ...asking })
    if (problem) problems.set(person.user_id, problem)
  }
  const nameFor = (user_id: number): string => {
    const person = byId.get(user_id)
    return person ? nameOf(person) : `User ${user_id}`
  }
  const relationTo = relationsTo(call, namedKeyOf(call.caller))
  const excluded: LeftOut[] = []
  const asked: StoredLine[] = []
  for (const [at, { members, ...line }] of lines.entries()) {
    const people: StoredLine['people'] = []
    for (const user_id of members) {
      const person = byId.get(user_id)
      const reason = person
        ? (problems.get(user_id)?.message ??
          (line.separated ? await unseparated(call, person, owners, relationTo) : undefined))
        : 'is not an active user with a device'
      const name = nameFor(user_id)
      if (reason === undefined) people.push({ user_id, name, mobile: hiddenNumber(person!.mobile) })
      else excluded.push({ line: at, user_id, name, reason })
    }
    asked.push({ ...line, people })
  }
  const pool = new Set(asked.flatMap(({ people }) => people.map(({ user_id }) => user_id)))
  const away = await readAway(call, { orgId, lines: wanted }, asking)
  const considered = {
    org_id: orgId,
    slug,
    policy,
    lines: markAway(asked, away),
    // The first one stands for all where a reader knows one approver.
    people: ids
      .filter((id) => pool.has(id))
      .toSorted((one, other) => Number(away.has(one)) - Number(away.has(other)))
      .map((id) => byId.get(id)!),
    away,
    considered: lines.map(({ members }) => members.map((user_id) => ({ user_id, name: nameFor(user_id) }))),
    excluded,
  }
  if (isEnough(asked)) {
    const problem = namedAway(asked, away)
    return problem ? { ...considered, problem } : considered
  }
  const [only, ...others] = ids
  // The refusal of the only person says exactly what to do. If everybody has a limit, waiting helps.
  const limited = excluded.every(({ user_id }) => problems.get(user_id)?.status === 429)
  const exact = only !== undefined && (others.length === 0 || limited) ? problems.get(only) : undefined
  return { ...considered, problem: exact ?? notEnough(excluded, lines) }
}

/**
 * Freezes who is asked. Leaves out whoever cannot be asked now, with the reason, and fails before anybody is notified if the
 * others cannot complete the request.
 */
export const choosePool = async (...asked: Parameters<typeof considerPool>): Promise<Pool> => {
  const { considered: _, away: __, problem, excluded, ...pool } = await considerPool(...asked)
  if (problem) throw problem
  return { ...pool, excluded: excluded.map(({ line: _line, ...rest }) => rest) }
}
