import { assign } from '../../core/assignment.ts'
import { conflict, type Refusal } from '../../core/refusal.ts'
import type { Call, RequiredLine } from '../call/call.ts'
import { awayAmong } from '../devices/absences.ts'
import { idsOf, type StoredLine } from './lines.ts'

// What it means for a request that some of the people it asks are away. It is decided once, when the request is made.

type Away = ReadonlyMap<number, string>

/** Who is away of the people of a request. A person consents to what they do themselves, such as the end of their absence. */
export const readAway = (
  call: Call,
  { orgId, lines }: { orgId: number; lines: readonly RequiredLine[] },
  { byRule }: { byRule: boolean },
): Promise<Away> => {
  const consenting = new Set(lines.flatMap(({ separated, members }) => (byRule && !separated ? members : [])))
  const users = lines.flatMap(({ members }) => members).filter((id) => !consenting.has(id))
  return awayAmong(call, orgId, users)
}

/** Whether all these people together can agree to every line. */
export const isEnough = (lines: readonly StoredLine[]): boolean => {
  const all = [...new Set(idsOf(lines).flatMap(({ people }) => people))]
  return (
    assign(
      idsOf(lines),
      all.map((id) => ({ id, counts: () => true })),
    ) !== undefined
  )
}

/**
 * Why nobody can answer a line of people whom the requester named; undefined if somebody can. A group, and administrators, are
 * asked even if all are away.
 */
export const namedAway = (lines: readonly StoredLine[], away: Away): Refusal | undefined => {
  const people = lines.find(
    ({ group, need, separated, people: named }) =>
      group === null && !separated && named.filter(({ user_id }) => !away.has(user_id)).length < need,
  )?.people
  if (!people) return undefined
  const absent = people.flatMap(({ user_id, name }) => {
    const until = away.get(user_id)
    return until === undefined ? [] : [{ user_id: String(user_id), name, until }]
  })
  return conflict(
    'approver_away',
    `Whoever must approve is away: ${absent.map(({ name, until }) => `${name} until ${until}`).join('; ')}`,
    'Nobody was notified. Name somebody else, or a group: --to @sre',
    { away: absent },
  )
}

/** Those whom somebody notifies. */
export const notifiedOf = (lines: readonly StoredLine[], away: Away = new Map()): StoredLine[] =>
  lines.map((line) => ({
    ...line,
    people: line.people.filter(({ user_id, quiet }) => !quiet && !away.has(user_id)),
  }))

/** Leaves to others what they can do without those who are away. If they are too few, these are notified too. */
export const markAway = (lines: StoredLine[], away: Away): StoredLine[] => {
  if (away.size === 0) return lines
  if (!isEnough(notifiedOf(lines, away))) return lines
  return lines.map((line) => ({
    ...line,
    people: line.people.map((one) => (away.has(one.user_id) ? { ...one, quiet: true } : one)),
  }))
}
