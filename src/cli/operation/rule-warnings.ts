import type { Rule } from '../../contract/rule-shape.ts'
import type { Context } from '../context/context.ts'

/** Says of new rules what their patterns leave out, and what they hold that nobody may expect. */
export const warnOfRules = async (rules: readonly Rule[], context: Context): Promise<void> => {
  if (rules.length === 0) return
  const { ruleWarnings, shellsNote } = await import('../../rules/ways-around.ts')
  const { note, warn } = await context.output()
  for (const rule of rules) {
    for (const warning of ruleWarnings(rule)) warn(`Warning: ${warning}`)
    const also = shellsNote(rule)
    if (also) note(also)
  }
}
