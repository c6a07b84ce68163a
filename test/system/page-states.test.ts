import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rowsToRun } from '../whole.ts'
import { flawsOfStates } from './page-states/flaws.ts'
import { createStages, type Stages } from './page-states/stages.ts'
import { type Journey, titles } from './page-states/table.ts'

let stages: Stages
beforeAll(() => void (stages = createStages()))
afterEach(() => stages.closePhones())
afterAll(() => stages.close())

/** What everybody sees. */
const usual = new Set<Journey>(['a new phone', 'decisions'])

test.each(rowsToRun(titles, (title) => usual.has(title)))(
  'each state hinders nobody: axe, colours, text size, zoom, keyboard and screen reader: %s',
  async (title) => {
    const { found, misdeeds } = await flawsOfStates(stages, title)
    expect(Object.entries(found).filter(([, flaws]) => flaws.length > 0)).toEqual([])
    expect(misdeeds).toEqual([])
  },
)
