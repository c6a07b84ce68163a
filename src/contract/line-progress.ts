import type { ApprovalLine } from './approval-line.ts'

/** How far a request of several people is. */
export type LineProgress = {
  approved: number
  needed: number
  /** The names of those who have not answered. */
  waiting: string[]
}

/** Counts no more yeses for a line than it needs. Undefined for a request of one person. */
export const progressOf = (lines: readonly ApprovalLine[] | undefined): LineProgress | undefined => {
  const people = lines?.flatMap((line) => line.people) ?? []
  if (!lines || people.length < 2) return undefined
  const counts = lines.map(({ need, people: own }) => ({
    need,
    approved: Math.min(need, own.filter(({ answer }) => answer === 'approved').length),
  }))
  const names = people.filter(({ answer }) => answer === 'pending').map(({ name }) => name)
  return {
    approved: counts.reduce((sum, { approved }) => sum + approved, 0),
    needed: counts.reduce((sum, { need }) => sum + need, 0),
    waiting: [...new Set(names)],
  }
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
