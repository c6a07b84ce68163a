import { rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { parseLine } from '../../contract/approvers.ts'
import { device } from '../../contract/device.ts'
import { user } from '../../contract/user.ts'
import { nearest } from '../../core/nearest.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { type Compared, factorProblems } from './factor-problems.ts'
import type { Row } from './state.ts'
import type { Problem } from './yaml.ts'

// What only the service knows about groups and rules: who can be asked. It is checked before anything is changed, because the
// service would refuse all changes of groups and rules together, and names no line of the file.

const membersOf = ({ fields }: Row): string[] => (fields.members ?? []) as string[]

const rowsToChange = ({ rows, plan }: Compared, section: 'groups' | 'rules') => {
  const keys = new Set(
    plan.steps.flatMap((step) => (step.section === section && step.action !== 'delete' ? [step.key] : [])),
  )
  return [...(rows[section] ?? []).entries()].filter(([, { key }]) => keys.has(key))
}

/** Why nobody could ask this person; undefined if somebody can. */
const problemOf = async (mobile: string, org_id: number | undefined, client: Client) => {
  const [found] =
    org_id === undefined ? [] : rowsIn(user.listUsers, await client.call(user.listUsers, { org_id, mobile }))
  if (found === undefined || org_id === undefined)
    return 'is not a user of the organization; a user must register a device before they can be in a group'
  const user_id = String(found.id)
  const devices = rowsIn(
    device.listDevices,
    await client.call(device.listDevices, { org_id, user_id: user_id as typeof found.id }),
  )
  return devices.some(({ state }) => state === 'active')
    ? undefined
    : `has no active device; this creates a link that registers one: svc user enroll ${shellQuote(user_id)} --org ${shellQuote(String(org_id))}`
}

/** People who join a group and could not be asked. A user whom the file adds registers a device before the next run. */
const memberProblems = async (compared: Compared, client: Client): Promise<Problem[]> => {
  const { state, plan } = compared
  const added = new Set(
    plan.steps.flatMap(({ action, section, key }) =>
      section === 'users' && action === 'create' ? [key] : [],
    ),
  )
  const problems: Problem[] = []
  for (const [i, row] of rowsToChange(compared, 'groups')) {
    // One that is empty already, because its people are gone, is exported so.
    if (membersOf(row).length === 0)
      problems.push({ path: ['groups', i, 'members'], message: 'must name at least one user' })
    const present = state.rows.groups?.find(({ key }) => key === row.key)
    for (const [k, mobile] of (row.typed ?? []).entries()) {
      if (added.has(mobile) || (present && membersOf(present).includes(mobile))) continue
      const message = await problemOf(mobile, state.org_id, client)
      if (message !== undefined) problems.push({ path: ['groups', i, 'members', k], message })
    }
  }
  return problems
}

/** The groups after the changes, each with the members who can be asked. */
const groupsAfter = ({ rows, state, prune }: Compared): Map<string, string[]> => {
  const present = state.rows.groups ?? []
  const kept = rows.groups && prune ? [] : present
  const asleep = new Set(present.flatMap((row) => row.asleep ?? []))
  return new Map(
    [...kept, ...(rows.groups ?? [])].map((row) => [
      row.key,
      membersOf(row).filter((mobile) => !asleep.has(mobile)),
    ]),
  )
}

/** Lines of a rule that nobody could satisfy. */
const lineProblems = (compared: Compared): Problem[] => {
  const groups = groupsAfter(compared)
  const missing = (name: string): string => {
    if (compared.state.rows.groups?.some(({ key }) => key === name))
      return `names a group that --prune deletes, because the file does not have it: ${name}`
    const near = nearest(name, [...groups.keys()])
    return `names a group that does not exist: ${name}${near === undefined ? '' : `; did you mean @${near}?`}`
  }
  const emergencyProblems = ([i, { fields }]: ReturnType<typeof rowsToChange>[number]): Problem[] => {
    if (typeof fields.break_glass !== 'string') return []
    const name = fields.break_glass.slice(1)
    const members = groups.get(name)
    const path = ['rules', i, 'break_glass']
    if (!members) return [{ path, message: missing(name) }]
    return members.length > 0
      ? []
      : [{ path, message: `needs a member of the group ${name} who can be asked` }]
  }
  const rules = rowsToChange(compared, 'rules')
  const ofLines = rules.flatMap(([i, { fields }]) =>
    (fields.who as string[]).flatMap((text, k): Problem[] => {
      const line = parseLine(text)
      if (line.group === undefined) return []
      const members = groups.get(line.group)
      const path = ['rules', i, 'who', k]
      if (!members) return [{ path, message: missing(line.group) }]
      const count = members.length
      // One of them may be the requester, who cannot approve.
      if (count > line.need) return []
      const able = count === 0 ? 'nobody' : `only ${count}`
      const why = 'because one of them may be the requester'
      const message = `needs ${line.need + 1} of the group ${line.group}, ${why}, and ${able} of it can be asked`
      return [{ path, message }]
    }),
  )
  return [...ofLines, ...rules.flatMap(emergencyProblems)]
}

/** What is wrong with whom the file lets ask. */
export const findAskingProblems = async (compared: Compared, client: Client): Promise<Problem[]> => [
  ...(await memberProblems(compared, client)),
  ...lineProblems(compared),
  ...(await factorProblems(compared, rowsToChange(compared, 'rules'), client)),
]
