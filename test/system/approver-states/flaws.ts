import { flawsInEachView } from '../approver-flaws.ts'
import type { Stage } from '../approver-stage.ts'
import { journeys } from './table.ts'
import { createWay } from './way.ts'

/** What is wrong in each state of a journey, in each view, and what the page must not have caused. */
export const flawsOfStates = async (stage: Stage, title: string) => {
  const phone = await stage.openPhone()
  const found: Record<string, string[]> = {}
  for (const [state, lead] of Object.entries(journeys[title]!(createWay(stage, phone)))) {
    await lead()
    found[state] = await flawsInEachView(phone)
  }
  return { found, misdeeds: phone.misdeeds }
}
