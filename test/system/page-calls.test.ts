import { beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { table } from '../../src/contract/table.ts'
import { rowsToRun } from '../whole.ts'
import { everyWay, play, routeOf } from './page-calls/play.ts'
import { createScene, type Scene } from './page-calls/scene.ts'
import { scenarios } from './page-calls/table.ts'
import type { Fault } from './bad-network.ts'
import { installHooksBehindProxy, network, stage } from './open-stage.ts'

// Each call of the page loses its answer in every way. The page says nothing untrue, and the same tap ends right.

installHooksBehindProxy({ keepPhones: true })

let scene: Scene
beforeAll(() => void (scene = createScene(stage, network)))

/** The page reads all sessions of the browser at once. An emergency needs a terminal, as in page-break-glass.test.ts. */
const uncalled = new Set(['getSession', 'beginReview', 'signReview'])

test('every call of the page has a scenario', () => {
  const called = Object.entries<Operation>(table).flatMap(([id, { session, open }]) =>
    (session || open) && !uncalled.has(id) ? [id] : [],
  )
  const known = new Set(Object.keys(scenarios).map((name) => name.split(',')[0]))
  expect(called.filter((id) => !known.has(id))).toEqual([])
  expect(called.length).toBeGreaterThan(40)
})

/** They say the same as a code of another device. */
const rarer = /(?:earlier|used|expired) code$/

/** Each write, whose answer is lost after it was done, and some reads. `npm run torture -- page` plays each in every way. */
const played = Object.keys(scenarios).flatMap((name, index): [string, Fault][] => {
  if (rarer.test(name)) return []
  if (routeOf(name).writes) return [[name, 'after']]
  return index % 3 === 0 ? [[name, everyWay[index % everyWay.length]!]] : []
})

test.each(rowsToRun(played, (_, at) => at % 6 === 0))('%s: %s', async (name, way) => {
  const met: Fault[] = []
  try {
    await play(scene, name, [way], (one) => met.push(one))
  } catch (error) {
    await scene.spoil()
    throw error
  }
  expect(met).toEqual([way])
})
