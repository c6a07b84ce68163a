import { countSeated } from '../core/assignment.ts'
import type { ApprovalLine } from './approval-line.ts'

/** How far a request of several people is. */
export type LineProgress = {
  approved: number
  needed: number
  /** The names of those who were notified and whose yes would bring the request further. */
  waiting: string[]
}

/** Counts a yes once, and no more for a line than it needs. Undefined for a request of one person. `viewer`: waits for nobody but others. */
export const progressOf = (
  lines: readonly ApprovalLine[] | undefined,
  viewer?: string,
): LineProgress | undefined => {
  const people = lines?.flatMap((line) => line.people) ?? []
  if (!lines || people.length < 2) return undefined
  const byId = new Map(people.map((one) => [one.user_id, one]))
  const ids = lines.map(({ need, people: own }) => ({ need, people: own.map(({ user_id }) => user_id) }))
  const yeses = [...byId.values()].filter(({ answer }) => answer === 'approved').map(({ user_id }) => user_id)
  const approved = countSeated(ids, yeses)
  return {
    approved,
    needed: lines.reduce((sum, { need }) => sum + need, 0),
    waiting: [...byId.values()]
      .filter(
        ({ answer, user_id, quiet }) =>
          answer === 'pending' &&
          !quiet &&
          user_id !== viewer &&
          countSeated(ids, [...yeses, user_id]) > approved,
      )
      .map(({ name }) => name),
  }
}

/** The same for one of the people who are asked, with the groups for which they are; undefined if they are asked alone and by name. */
export const progressFor = (
  viewer: string,
  lines: readonly ApprovalLine[],
): (LineProgress & { groups: string[] }) | undefined => {
  const own = lines.filter(({ people }) => people.some(({ user_id }) => user_id === viewer))
  const groups = own.flatMap(({ group }) => group ?? [])
  const progress = progressOf(lines, viewer)
  if (!progress && groups.length === 0) return undefined
  return { approved: 0, needed: 1, waiting: [], ...progress, groups }
}

/** `1 of 2 approved; waiting for Ada Lovelace, Grace Hopper`; undefined for a request of one person. */
export const progressText = (lines: readonly ApprovalLine[] | undefined): string | undefined => {
  const progress = progressOf(lines)
  if (!progress) return undefined
  const { approved, needed, waiting } = progress
  const names = waiting.length > 0 ? `; waiting for ${waiting.join(', ')}` : ''
  return `${approved} of ${needed} approved${names}`
}

/** The group or the names of each line: `2 of @dba, Ada Lovelace`. */
export const askedText = (lines: readonly ApprovalLine[]): string =>
  lines
    .map(({ group, need, people }) => {
      const who = group === null ? people.map(({ name }) => name).join(' or ') : `@${group}`
      return need === 1 ? who : `${need} of ${who}`
    })
    .join(' and ')

/** `because of rule destroy`; undefined if no rule holds the request. */
export const becauseText = (rules: readonly string[] = []): string | undefined =>
  rules.length === 0 ? undefined : `because of rule${rules.length > 1 ? 's' : ''} ${rules.join(', ')}`
