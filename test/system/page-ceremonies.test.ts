import { beforeAll, expect, test } from 'vitest'
import { ceremonies, interrupt } from './page-calls/interruptions.ts'
import { createScene, type Scene } from './page-calls/scene.ts'
import { inTwoTabs, playInTwoTabs } from './page-calls/two-tabs.ts'
import { installHooksBehindProxy, network, stage } from './open-stage.ts'

// Each ceremony is left in the middle, and nothing of it remains; then it is held to its end.

installHooksBehindProxy({ keepPhones: true })

let scene: Scene
beforeAll(() => void (scene = createScene(stage, network)))

/** One interruption for every second ceremony, all in turn. `npm run torture -- page` plays all for each. */
const cells = Object.entries(ceremonies).flatMap(([name, ways], index) =>
  index % 2 === 0 ? [[name, ways[(index / 2) % ways.length]!] as const] : [],
)

test.each(inTwoTabs.filter((_, index) => index % 3 === 0))('%s: in two tabs at once', async (name) => {
  await expect(playInTwoTabs(scene, name).finally(scene.spoil)).resolves.toBeUndefined()
})

test.each(cells)('%s: %s', async (name, how) => {
  try {
    await expect(interrupt(scene, name, how)).resolves.toBeUndefined()
  } catch (error) {
    await scene.spoil()
    throw error
  }
})
