import { table } from '../../../src/contract/table.ts'
import { patienceMs } from '../../patience.mts'
import { type Fault, faults } from '../bad-network.ts'
import { scenarios } from './table.ts'
import type { Play, Scene } from './scene.ts'

const givenUpMs = 15_000

/** What was committed and lost comes last, because it is repeated then. */
export const everyWay: readonly Fault[] = [...faults.filter((one) => one !== 'after'), 'after']

/** The operation of a scenario such as `moveDevice, refuse`. */
export const routeOf = (name: string) => {
  const id = name.split(',')[0] as keyof typeof table
  const { method, path, effect } = table[id]
  return {
    method,
    path: new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`),
    writes: effect !== 'read',
  }
}

export const within = async (work: Promise<unknown>, what: string): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not in time`)), patienceMs)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

export const happenedTimes = async ({ happened }: Play, times: number, when: string): Promise<void> => {
  const count = await happened?.()
  if (count !== undefined && count !== times)
    throw new Error(`${when}: happened ${count} times, not ${times}`)
}

export const ends = async (one: Play, name: string): Promise<void> => {
  await within(one.done(), `${name}: the end`)
  await happenedTimes(one, 1, name)
  const { misdeeds } = one.phone
  if (misdeeds.length > 0) throw new Error(`${name}: ${misdeeds.join(', ')}`)
}

/**
 * Plays one scenario: its call fails in each of these ways, one after the other, and then it works. After each, the page must
 * show what it can know, and the service must have done what was tapped not at all or once. Calls `met` for each fault.
 */
export const play = async (
  scene: Scene,
  name: string,
  ways: readonly Fault[] = everyWay,
  met: (way: Fault) => void = () => undefined,
): Promise<void> => {
  const { network } = scene
  const { method, path, writes } = routeOf(name)
  network.mend()
  const one = await scenarios[name]!(scene)
  const { phone, tap, says, again = tap, knows = false } = one
  await one.reveal?.()
  let next = tap
  for (const way of ways) {
    const hit = network.fail(method, path, way, 1)
    await next()
    next = again
    await within(hit, `${name}, ${way}: the call`)
    met(way)
    if (way === 'stalled') await phone.page.clock.fastForward(givenUpMs)
    if (way === 'after' && writes && knows) return ends(one, name)
    await within(says(), `${name}, ${way}: what the page says`)
    await happenedTimes(one, way === 'after' && writes ? 1 : 0, `${name}, ${way}`)
  }
  await next()
  await ends(one, name)
}

/** A call that is answered with a success although nobody did it. Whoever plays it must notice. */
export const playUntrue = async (scene: Scene, name: string): Promise<void> => {
  const { method, path } = routeOf(name)
  scene.network.mend()
  const one = await scenarios[name]!(scene)
  await one.reveal?.()
  void scene.network.fail(method, path, 'a success of nobody', 1)
  await one.tap()
  await ends(one, name)
}
