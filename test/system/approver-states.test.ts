import { expect, test } from 'vitest'
import { flawsOfStates } from './approver-states/flaws.ts'
import { journeys } from './approver-states/table.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks()

test.each(Object.keys(journeys))(
  'each state hinders nobody: axe, colours, text size, zoom, keyboard and screen reader: %s',
  async (title) => {
    const { found, misdeeds } = await flawsOfStates(stage, title)
    expect(Object.entries(found).filter(([, flaws]) => flaws.length > 0)).toEqual([])
    expect(misdeeds).toEqual([])
  },
)
