import { flawsInEachView } from '../approver-flaws.ts'
import { hindrances } from '../approver-sight.ts'
import { listen, unheard } from '../approver-speech.ts'
import type { Stage } from '../approver-stage.ts'
import { journeys } from './table.ts'
import { createWay } from './way.ts'

/** What is wrong in each state of a journey, in each view, and what the page must not have caused. */
export const flawsOfStates = async (stage: Stage, title: string) => {
  const phone = await stage.openPhone()
  const { heard } = await listen(phone)
  const found: Record<string, string[]> = {}
  for (const [state, lead] of Object.entries(journeys[title]!(createWay(stage, phone)))) {
    await lead()
    const spoken = await unheard(phone, await heard())
    found[state] = [...spoken, ...(await flawsInEachView(phone)), ...(await hindrances(phone))]
    // What the views made it read is not part of the journey.
    await heard()
  }
  return { found, misdeeds: phone.misdeeds }
}
