import type { OperationId } from '../../src/contract/table.ts'
import { between, comeBack, spelled, tampered, type Verdict } from './rule-cases.ts'
import { spellings } from './rule-spellings.ts'
import { type Broken, later, openStage, type Stage, withoutRules } from './rule-stage.ts'
import { written, writes } from './rule-writes.ts'
import { createTally, type Tally } from './race.ts'
import type { Torture } from './torture.ts'

/** How often each spelling, write and race is tried. */
const times = 6
const timesOfControl = 1
const races = 40

const heldWrites: OperationId[] = [
  'createApproval',
  'deleteUser',
  'removeUser',
  'makeAdmin',
  'updateUser',
  'createUser',
  'createGeofence',
  'createKey',
  'rotateKey',
]

const runAll = async (tally: Tally, count: number, handlers?: Broken): Promise<void> => {
  const within = async (what: string, attack: (stage: Stage) => Verdict, stage: Stage): Promise<void> => {
    tally.count++
    const wrong = await attack(stage).catch((error: unknown) => String(error))
    if (wrong !== undefined) tally.wrong(`${what}: ${wrong}`)
    later(stage)
  }
  const onStage = async (work: (stage: Stage) => Promise<void>): Promise<void> => {
    const stage = await openStage(handlers)
    await work(stage).finally(() => stage.service.close())
  }
  await onStage(async (stage) => {
    for (let n = 0; n < count; n++)
      for (const [name, make] of Object.entries(spellings))
        await within(name, () => spelled(stage, make(), tally), stage)
  })
  await onStage(async (stage) => {
    let at = 0
    for (let n = 0; n < count; n++)
      for (const name of Object.keys(writes))
        await within(name, () => written(stage, name, at++, tally), stage)
  })
  await onStage(async (stage) => {
    for (let n = 0; n < (handlers ? races / 4 : races); n++)
      await within('a rule during the use', () => between(stage, tally), stage)
  })
  for (let n = 0; n < count; n++) {
    await onStage((stage) => within('people who came back', () => comeBack(stage, tally), stage))
    await onStage((stage) => within('a changed store', () => tampered(stage, tally), stage))
  }
}

export const torture: Torture = {
  name: 'Rules: other words, other ways, other moments, and a changed store',
  must: 'nothing that a rule holds happens without its people',
  run: async () => {
    const honest = createTally()
    await runAll(honest, times)
    // Each check alone: when it is asked and written, and when an approval is used.
    const broken = [createTally(), createTally()]
    await runAll(broken[0]!, timesOfControl, withoutRules(heldWrites))
    await runAll(broken[1]!, timesOfControl, withoutRules(['consumeApproval']))
    const { count, failures, hits, examples } = honest
    const [asked, used] = broken.map((one) => one.failures) as [number, number]
    return {
      count,
      failures,
      hits,
      control: Math.min(asked, used),
      examples: [...examples, `without the check of what is asked: ${asked}; of what is used: ${used}`],
    }
  },
}
