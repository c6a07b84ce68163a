import { readInstant } from './instant.ts'
import { everyLevel, rulesOf, type Levels } from './level.ts'
import type { SlotIndex } from './slot.ts'
import { cannotTell, fail, notApplicable, pass, type Verdict } from './verdict.ts'

/** Maximum number of slots in a verdict. */
const few = 3

const checkSlots = (slots: SlotIndex, instant: number): Verdict => {
  const readings = slots.read(instant)
  const open = readings.find((one) => one.open)
  if (open) return pass(`${open.local} is inside ${open.text}`, [open.slot], [open.local])
  if (readings.length === 0) return fail('no active time slot can be read')
  const named = readings.slice(0, few)
  const reasons = named.map(({ local, text }) => `${local} is outside ${text}`)
  const more = readings.length - named.length
  return fail(
    [...reasons, ...(more > 0 ? [`and outside ${more} more`] : [])].join('; '),
    named.map(({ slot }) => slot),
    [...new Set(named.map(({ local }) => local))],
  )
}

/** Requires an open slot in each level that has slots. `at` is the ISO instant of the decision. */
export const checkTime = (levels: Levels, at: unknown): Verdict => {
  const rules = rulesOf(levels, ({ slots }) => slots)
  if (rules.length === 0) return notApplicable('no active time slot')
  const instant = readInstant(at)
  if (instant === undefined) return cannotTell('the time of the decision cannot be read')
  return everyLevel(rules, (slots) => checkSlots(slots, instant))
}
