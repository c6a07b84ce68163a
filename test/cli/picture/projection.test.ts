import fc from 'fast-check'
import { expect, test } from 'vitest'
import { edgeOf, findCentre, projectionAt, type Coordinates } from '../../../src/cli/picture/projection.ts'
import { chord, ground, pointAt } from '../../../src/factors/earth.ts'

const place = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})
const metres = (a: Coordinates, b: Coordinates): number =>
  ground(chord(pointAt(a.latitude, a.longitude)!, pointAt(b.latitude, b.longitude)!))
/** The picture uses a sphere, the rules an ellipsoid. */
const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 0.006 * b + 0.01

test('a circle is drawn where the rules measure its edge, at any latitude, pole and date line included', () => {
  fc.assert(
    fc.property(place, fc.integer({ min: 1, max: 1_000_000 }), (centre, radius) => {
      expect(edgeOf({ ...centre, radius }, 8).every((edge) => isNear(metres(centre, edge), radius))).toBe(
        true,
      )
    }),
  )
})

test('a picture keeps distances from its center and can be converted back', () => {
  fc.assert(
    fc.property(place, place, (centre, other) => {
      fc.pre(metres(centre, other) < 15_000_000)
      const { pointOn, placeAt } = projectionAt(centre)
      const spot = pointOn(other)
      expect(isNear(Math.hypot(...spot), metres(centre, other))).toBe(true)
      expect(metres(placeAt(spot), other)).toBeLessThan(1)
    }),
  )
})

test('north is up and east is right', () => {
  const { pointOn } = projectionAt({ latitude: 52.5, longitude: 179.99 })
  expect(pointOn({ latitude: 52.6, longitude: 179.99 })[1]).toBeGreaterThan(11_000)
  expect(pointOn({ latitude: 52.5, longitude: -179.99 })[0]).toBeGreaterThan(1300)
})

test.each([
  [
    'across the date line',
    [
      [0, 179],
      [0, -179],
    ],
    [0, 180],
  ],
  [
    'around a pole',
    [
      [80, 0],
      [80, 120],
      [80, -120],
    ],
    [90, 0],
  ],
] as const)('the center of places %s lies between them', (_, places, [latitude, longitude]) => {
  const middle = findCentre(places.map(([lat, lon]) => ({ latitude: lat, longitude: lon })))
  expect(metres(middle, { latitude, longitude })).toBeLessThan(1)
})

test('the center of places all around the Earth has none of them on its far side', () => {
  const middle = findCentre([
    { latitude: 0, longitude: 0 },
    { latitude: 0, longitude: 180 },
  ])
  for (const longitude of [0, 180])
    expect(metres(middle, { latitude: 0, longitude })).toBeLessThan(10_100_000)
})
