import { flawsInEachView } from '../page-flaws.ts'
import { hindrances } from '../page-sight.ts'
import { listen, unheard } from '../page-speech.ts'
import type { Stages } from './stages.ts'
import { type Journey, journeys } from './table.ts'

/** What is wrong in each state of a journey, in each view, and what the page must not have caused. */
export const flawsOfStates = async (stages: Stages, journey: Journey, language?: string) => {
  const way = await stages.open(journey, language)
  const { phone } = way
  const { heard } = await listen(phone)
  const found: Record<string, string[]> = {}
  for (const [state, lead] of Object.entries(journeys[journey](way))) {
    await lead()
    const spoken = await unheard(phone, await heard())
    found[state] = [...spoken, ...(await flawsInEachView(phone)), ...(await hindrances(phone))]
    // What the views made it read is not part of the journey.
    await heard()
  }
  return { found, misdeeds: phone.misdeeds }
}
