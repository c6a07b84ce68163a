import { reading, type Scenario, status, unreachable } from './scene.ts'

const set: Scenario = async ({ admin, show, audited }) => {
  const { phone } = await admin()
  await show(phone, 'away')
  return {
    phone,
    tap: (on = phone) => on.tap('Set absence'),
    says: () => unreachable(phone),
    done: (on = phone) => status(on, /The absence is set|The answer was lost/),
    knows: true,
    happened: await audited('signAway'),
  }
}

export const away: Record<string, Scenario> = {
  getAway: reading('away', 'Away'),
  beginAway: set,
  signAway: set,
}
