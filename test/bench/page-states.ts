import { flawsOfStates } from '../system/approver-states/flaws.ts'
import { createStages } from '../system/approver-states/stages.ts'
import { titles } from '../system/approver-states/table.ts'
import type { Figure } from './figures.ts'

type Checked = { states: number; flaws: string[] }

/** What is wrong in every state of the page, as `test/system/approver-states.test.ts` looks for it. */
export const checkStates = async (): Promise<Checked> => {
  const stages = createStages()
  const checked: Checked = { states: 0, flaws: [] }
  try {
    for (const title of titles) {
      const { found, misdeeds } = await flawsOfStates(stages, title)
      await stages.closePhones()
      checked.states += Object.keys(found).length
      for (const [state, flaws] of Object.entries(found))
        checked.flaws.push(...flaws.map((one) => `${state}: ${one}`))
      checked.flaws.push(...misdeeds)
    }
  } finally {
    await stages.close()
  }
  for (const flaw of checked.flaws) process.stderr.write(`${flaw}\n`)
  return checked
}

export const stateFigure = (checked?: Checked): Figure => ({
  what: `page, ${checked?.states ?? 'all'} states, in all settings: violations of axe, and what is cut, covered or not read`,
  figure: checked?.flaws.length,
  unit: ' flaws',
  must: 0,
  beyond: 0,
  more: false,
})
