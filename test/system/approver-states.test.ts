import { expect, test } from 'vitest'
import { flawsInEachView } from './approver-flaws.ts'
import { journeys } from './approver-states/table.ts'
import { createWay } from './approver-states/way.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks()

test.each(Object.keys(journeys))(
  'each state has no axe violation and fits, in light, in dark and with large text: %s',
  async (title) => {
    const phone = await stage.openPhone()
    const found: Record<string, string[]> = {}
    for (const [state, lead] of Object.entries(journeys[title]!(createWay(stage, phone)))) {
      await lead()
      found[state] = await flawsInEachView(phone)
    }
    expect(Object.entries(found).filter(([, flaws]) => flaws.length > 0)).toEqual([])
    expect(phone.misdeeds).toEqual([])
  },
)
