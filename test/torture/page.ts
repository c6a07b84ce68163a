import { ceremonies, interrupt } from '../system/page-calls/interruptions.ts'
import { play, playUntrue } from '../system/page-calls/play.ts'
import { createScene, type Scene } from '../system/page-calls/scene.ts'
import { scenarios } from '../system/page-calls/table.ts'
import { inTwoTabs, playInTwoTabs } from '../system/page-calls/two-tabs.ts'
import { createStage } from '../system/page-stage.ts'
import { createBadNetwork } from '../system/bad-network.ts'
import type { Result, Torture } from './torture.ts'

/** Calls whose answer says no more than that they succeeded. */
const believed = ['verifyEmail', 'moveDevice, refuse', 'unmute', 'moveMember, hold']

const playAll = async (scene: Scene, result: Result): Promise<void> => {
  const { hits, examples = [] } = result
  const meet = (what: string): void => {
    result.count += 1
    hits[what] = (hits[what] ?? 0) + 1
  }
  const attempt = async (name: string, work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      result.failures += 1
      examples.push(`${name}: ${String(error)}`)
      await scene.spoil()
    }
  }
  for (const name of Object.keys(scenarios)) await attempt(name, play(scene, name, undefined, meet))
  for (const [name, interruptions] of Object.entries(ceremonies))
    for (const how of interruptions) {
      meet(how)
      await attempt(`${name}, ${how}`, interrupt(scene, name, how))
    }
  for (const name of inTwoTabs) {
    meet('two tabs')
    await attempt(`${name}, two tabs`, playInTwoTabs(scene, name))
  }
  for (const name of believed)
    await playUntrue(scene, name).catch((error: unknown) => {
      if (String(error).includes('happened 0 times')) result.control += 1
      else examples.push(`control: ${String(error)}`)
    })
}

export const torture: Torture = {
  name: 'Each call of the approver page without its answer, and each ceremony left in the middle',
  must: '0 untrue screens, and 0 effects that are missing or doubled',
  run: async () => {
    const network = await createBadNetwork()
    const stage = await createStage({ between: network, notifications: true })
    const result: Result = { count: 0, failures: 0, hits: {}, control: 0, examples: [] }
    try {
      await playAll(createScene(stage, network), result)
    } finally {
      await stage.close()
    }
    return result
  },
}
