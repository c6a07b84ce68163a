import { flawsOfStates } from '../system/page-states/flaws.ts'
import { createStages } from '../system/page-states/stages.ts'
import { languages, titles } from '../system/page-states/table.ts'
import type { Figure } from './figures.ts'

type Checked = { states: number; flaws: string[] }

/** What is wrong in every state of the page that is pictured, in each language of the pictures. */
export const checkStates = async (): Promise<Checked> => {
  const checked: Checked = { states: 0, flaws: [] }
  for (const language of languages) {
    const stages = createStages()
    try {
      for (const title of titles) {
        const { found, misdeeds } = await flawsOfStates(stages, title, language)
        await stages.closePhones()
        checked.states += Object.keys(found).length
        for (const [state, flaws] of Object.entries(found))
          checked.flaws.push(...flaws.map((one) => `${language}, ${state}: ${one}`))
        checked.flaws.push(...misdeeds.map((one) => `${language}, ${title}: ${one}`))
      }
    } finally {
      await stages.close()
    }
  }
  for (const flaw of checked.flaws) process.stderr.write(`${flaw}\n`)
  return checked
}

export const stateFigure = (checked?: Checked): Figure => ({
  what: `page, ${checked?.states ?? 'all'} states in ${languages.length} languages, in all settings: violations of axe, and what is cut, covered or not read`,
  figure: checked?.flaws.length,
  unit: ' flaws',
  must: 0,
  beyond: 0,
  more: false,
})
