import { parseLine } from '../../contract/approvers.ts'
import { invalid } from '../../core/refusal.ts'
import type { Call, RequiredLine } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { readGroup } from '../devices/seats.ts'
import { activeMembers, type Approver, findApprover, notEnrolled, readOwn } from './find-approver.ts'

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
      'must name somebody: this key belongs to no organization whose rules could say who',
      'Name a person with --to +12025550101, or the organization with --org',
    )
  if (meant === null)
    throw invalid(
      'org_id',
      'is required: this key belongs to no organization, and a group or several people do not say which',
      'Add --org, such as --org acme',
    )
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
      : await readOwn(call, activeMembers(call, orgId).where('p.mobile', 'in', line.people))
    if (found.length < line.people.length) throw notEnrolled('phone')
    const members = found.map(({ user_id }) => user_id)
    lines.push({ members, need: line.need, group: null, rules: [], separated: false })
  }
  return { orgId, lines }
}
