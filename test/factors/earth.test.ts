import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chord, ground, pointAt } from '../../src/factors/earth.ts'
import { geodesic } from './geodesic.ts'

const distance = (lat1: number, lon1: number, lat2: number, lon2: number): number =>
  ground(chord(pointAt(lat1, lon1)!, pointAt(lat2, lon2)!))

const double = (min: number, max: number) => fc.double({ min, max, noNaN: true })

describe('distance on the Earth', () => {
  test.each([
    ['a degree of latitude at the equator', [-0.5, 0, 0.5, 0], 110_574.28],
    ['a degree of latitude at the pole', [89, 0, 90, 0], 111_693.9],
    ['a degree of longitude at the equator', [0, 10, 0, 11], 111_319.49],
    ['a distance across the antimeridian', [0, 179.5, 0, -179.5], 111_319.49],
    ['the antimeridian with both signs', [-17, 180, -17, -180], 0],
    ['a distance across the pole', [89.5, 0, 89.5, 180], 111_693.9],
    ['the pole with two longitudes', [90, 12, 90, -130], 0],
  ] as const)('is right for %s', (_, [lat1, lon1, lat2, lon2], metres) => {
    expect(Math.abs(distance(lat1, lon1, lat2, lon2) - metres)).toBeLessThan(10)
  })

  test('stays within 0.02 % of the geodesic for the largest fences', () => {
    fc.assert(
      fc.property(
        double(-90, 90),
        double(-180, 180),
        double(-9, 9),
        double(-9, 9),
        (lat, lon, dLat, dLon) => {
          const to = Math.min(90, Math.max(-90, lat + dLat))
          const lonTo =
            lon + dLon > 180 ? lon + dLon - 360 : lon + dLon < -180 ? lon + dLon + 360 : lon + dLon
          const exact = geodesic(lat, lon, to, lonTo)
          if (exact > 1_000_000) return
          expect(Math.abs(distance(lat, lon, to, lonTo) - exact)).toBeLessThan(0.0002 * exact + 0.001)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each([
    [90.000_001, 0],
    [-91, 0],
    [0, 180.1],
    [0, -181],
    [Number.NaN, 0],
    [0, Number.NaN],
    [Infinity, 0],
    [0, -Infinity],
    ['52.5', 13],
    [undefined, 13],
    [null, null],
    [[52], 13],
    [{ valueOf: (): number => 1 }, 1],
  ])('is not defined at %s, %s', (latitude, longitude) => {
    expect(pointAt(latitude, longitude)).toBeUndefined()
  })
})
