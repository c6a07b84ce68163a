import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { table } from '../../src/contract/table.ts'
import { everyWay, play } from './approver-calls/play.ts'
import { createScene, type Scene } from './approver-calls/scene.ts'
import { scenarios } from './approver-calls/table.ts'
import type { Fault } from './bad-network.ts'
import { installHooksBehindProxy, network, stage } from './open-stage.ts'

// Each call of the page loses its answer in every way. The page says nothing untrue, and the same tap ends right.

installHooksBehindProxy({ keepPhones: true })

let scene: Scene
beforeAll(() => void (scene = createScene(stage, network)))

test('every call of the page has a scenario', () => {
  const page = readFileSync(new URL('../../src/approver/calls/api.ts', import.meta.url), 'utf8')
  const called = [...page.matchAll(/^ {2}(\w+): \['(?:GET|POST|DELETE)', /gm)].map(([, id]) => id!)
  const ofSessions = Object.entries(table).flatMap(([id, one]) =>
    'session' in one && one.session ? [id] : [],
  )
  const played = new Set(Object.keys(scenarios).map((name) => name.split(',')[0]))
  expect([...new Set([...called, ...ofSessions])].filter((id) => !played.has(id))).toEqual([])
  expect(called.length).toBeGreaterThan(40)
})

/** Two of the five ways for each scenario, all in turn. `npm run torture -- page` plays all of them. */
const waysOf = (index: number): Fault[] => [everyWay[index % (everyWay.length - 1)]!, 'after']

test.each(Object.keys(scenarios).map((name, index) => [name, waysOf(index)] as const))(
  '%s: %s',
  async (name, ways) => {
    let met = 0
    try {
      await play(scene, name, ways, () => (met += 1))
    } catch (error) {
      await scene.spoil()
      throw error
    }
    expect(met).toBe(ways.length)
  },
)
