import { compileFences, type Fence, type FenceIndex } from './fence-index.ts'
import { compileSlots, type Slot, type SlotIndex } from './slot.ts'
import { fail, pass, type Verdict } from './verdict.ts'

/** The rules of one organization or one user, compiled once and cached until their rows change. */
export type Level = {
  readonly fences: FenceIndex | undefined
  readonly slots: SlotIndex | undefined
  /** Number of rows it was compiled from. */
  readonly size: number
}

type Rows = { fences: readonly Fence[]; slots: readonly Slot[] }

export const compileLevel = ({ fences, slots }: Rows): Level => ({
  fences: compileFences(fences),
  slots: compileSlots(slots),
  size: fences.length + slots.length,
})

export type Levels = { readonly organization: Level; readonly user: Level }

const names = ['organization', 'user'] as const

/** The rules of the levels that restrict; a level without an active one does not. */
export const rulesOf = <Rule>({ organization, user }: Levels, of: (level: Level) => Rule | undefined) => {
  const rules = [of(organization), of(user)]
  return names.flatMap((level, i) => (rules[i] === undefined ? [] : [{ level, rule: rules[i] }]))
}

/** Requires each level to pass; `expected` and `observed` are grouped by level. */
export const everyLevel = <Rule>(
  rules: { level: string; rule: Rule }[],
  check: (rule: Rule) => Verdict,
): Verdict => {
  const checked = rules.map(({ level, rule }) => ({ level, ...check(rule) }))
  const failed = checked.filter(({ result }) => result !== 'PASS')
  return (failed.length > 0 ? fail : pass)(
    (failed.length > 0 ? failed : checked).map(({ reason }) => reason).join('; '),
    Object.fromEntries(checked.map(({ level, expected }) => [level, expected])),
    Object.fromEntries(checked.map(({ level, observed }) => [level, observed])),
  )
}
