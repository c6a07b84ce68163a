import type { Rule } from '../contract/rule-shape.ts'
import { commands } from './check.ts'
import { holdsOperation } from './match.ts'

/** The rules that hold the same call of svc, keys and exceptions aside: each set of several once. */
export const heldTogether = (rules: readonly Rule[]): Rule[][] => {
  const ofCalls = rules.filter(({ match }) => match.type === 'request')
  const sets = new Map<string, Rule[]>()
  for (const command of commands) {
    const held = ofCalls.filter(
      ({ match }) => match.operation?.some((listed) => holdsOperation(listed, command)) ?? true,
    )
    if (held.length > 1) sets.set(JSON.stringify(held.map(({ name }) => name)), held)
  }
  return [...sets.values()]
}
