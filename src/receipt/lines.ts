import { assign, type Yes } from '../core/assignment.ts'
import type { ReceiptClaims } from './claims.ts'

type Answer = Pick<ReceiptClaims, 'approver' | 'lines' | 'device'>

/** The requesting key enrolled the device, or may have. */
const dependent = new Set(['self', 'unknown'])

/** Which lines the yes of a receipt counts on. */
export const yesOf = ({ approver, lines, device }: Answer): Yes => ({
  id: approver.user_id,
  counts: (line) => !(lines[line]!.separated && dependent.has(device.enrolled_by.relation)),
})

export const neededIn = (lines: Answer['lines']): number => lines.reduce((sum, { need }) => sum + need, 0)

/** `2 of @database`, or how many of the people who were named. */
export const lineName = ({ need, group }: { need: number; group: { name: string } | null }): string =>
  `${need} of ${group ? `@${group.name}` : 'those named'}`

/** Why the yes of one person is not an approval; undefined if it is. */
export const aloneProblem = (answer: Answer): string | undefined => {
  if (assign(answer.lines, [yesOf(answer)])) return undefined
  const needed = neededIn(answer.lines)
  return needed === 1
    ? 'it counts on no line, because the requesting key enrolled the device or its origin is not known'
    : `one of ${needed}: not an approval alone`
}
