import { compileLevel, type Level } from '../../src/factors/level.ts'
import { checkLocation } from '../../src/factors/location.ts'
import { median, type Figure } from './figures.ts'

const at = '2030-01-31T12:00:00.000Z'
const none = compileLevel({ fences: [], slots: [] })

/** Pseudo-random numbers from 0 to 1, the same in each run. */
const numbers = (seed: number) => (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

/** Fences of all sizes, from a door to a city, around the world. */
const levelOf = (count: number): Level => {
  const next = numbers(7)
  const fences = Array.from({ length: count }, (_, i) => ({
    name: `fence ${i}`,
    latitude: next() * 170 - 85,
    longitude: next() * 360 - 180,
    radius: Math.round(10 ** (1 + 3.5 * next())),
    is_active: 1 as const,
  }))
  return compileLevel({ fences, slots: [] })
}

const places = ((): { latitude: number; longitude: number; accuracy_m: number; at: string }[] => {
  const next = numbers(11)
  return Array.from({ length: 2_000 }, () => ({
    latitude: next() * 170 - 85,
    longitude: next() * 360 - 180,
    accuracy_m: 10,
    at,
  }))
})()

const took = (organization: Level): number => {
  const began = performance.now()
  for (const place of places) checkLocation({ organization, user: none }, place, at)
  return performance.now() - began
}

/** Measures both in turn, so that other load affects both. The first rounds warm up. */
export const fenceFigure = (): Figure => {
  const [many, few] = [levelOf(10_000), levelOf(10)]
  const ratios = Array.from({ length: 15 }, () => took(many) / took(few)).slice(5)
  return {
    what: 'geo-fence decision with 10,000 fences / with 10',
    figure: median(ratios),
    unit: '',
    must: 3,
    beyond: 1.5,
    more: false,
  }
}
