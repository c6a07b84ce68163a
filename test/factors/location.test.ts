import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileFences, type Fence } from '../../src/factors/fence-index.ts'
import { chord, ground, pointAt } from '../../src/factors/earth.ts'
import { compileLevel } from '../../src/factors/level.ts'
import { checkLocation } from '../../src/factors/location.ts'

const at = '2026-03-02T08:12:00.000Z'
const berlin = { latitude: 52.52, longitude: 13.405 }
const fence = (change: Partial<Fence> = {}): Fence => ({
  name: 'Headquarters',
  ...berlin,
  radius: 150,
  is_active: 1,
  ...change,
})
const level = (...fences: Fence[]) => compileLevel({ fences, slots: [] })
const here = (change: object = {}) => ({ ...berlin, accuracy_m: 20, at, ...change })
const check = (location: unknown, organization: Fence[] = [fence()], user: Fence[] = []) =>
  checkLocation({ organization: level(...organization), user: level(...user) }, location, at)
const north = (metres: number) => berlin.latitude + metres / 111_273

const double = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const anyFence = fc.record({
  name: fc.string({ maxLength: 8 }),
  latitude: double(-90, 90),
  longitude: double(-180, 180),
  radius: fc.integer({ min: 1, max: 1_000_000 }),
})

describe('a geo-fence', () => {
  test('admits a place whose whole circle of uncertainty is inside, with a reason', () => {
    expect(check(here({ latitude: north(99.6) }))).toEqual({
      result: 'PASS',
      reason: '100 m from Headquarters (radius 150 m, accuracy 20 m)',
      expected: { organization: { name: 'Headquarters', radius_m: 150 } },
      observed: { organization: { distance_m: 100, accuracy_m: 20 } },
    })
  })

  test('rejects a place that is too far, and says how far', () => {
    expect(check(here({ latitude: north(211.6) }))).toMatchObject({
      result: 'FAIL',
      reason: '212 m from Headquarters (radius 150 m, accuracy 20 m)',
    })
  })

  test('counts uncertainty against the person', () => {
    expect(check(here({ latitude: north(99.5), accuracy_m: 50 })).result).toBe('PASS')
    expect(check(here({ latitude: north(99.5), accuracy_m: 51 })).result).toBe('FAIL')
  })

  test('reveals at most two digits of a distance far outside, and never a coordinate', () => {
    const verdict = check(here({ latitude: -33.8688, longitude: 151.2093 }))
    expect(verdict.reason).toBe('17,000 km from Headquarters (radius 150 m, accuracy 20 m)')
    expect(JSON.stringify(verdict)).not.toMatch(/33\.8|151\.2|52\.5/)
  })

  test.each([
    ['the antimeridian', { latitude: -16.8, longitude: 179.9999 }, { latitude: -16.8, longitude: -179.9999 }],
    ['the north pole', { latitude: 90, longitude: 0 }, { latitude: 89.9999, longitude: -120 }],
    ['the south pole', { latitude: -89.9999, longitude: 10 }, { latitude: -89.9999, longitude: -170 }],
  ])('extends across %s', (_, centre, place) => {
    expect(check(here(place), [fence(centre)])).toMatchObject({ result: 'PASS' })
    expect(check(here({ ...place, latitude: place.latitude * 0.99 }), [fence(centre)]).result).toBe('FAIL')
  })

  test('is one of several of its level, and the nearest is named', () => {
    const far = fence({ name: 'Depot', latitude: 48 })
    expect(check(here(), [far, fence()])).toMatchObject({ result: 'PASS' })
    expect(check(here({ latitude: north(400) }), [far, fence()]).reason).toContain('Headquarters')
  })

  test('must match on the organization level and on the user level', () => {
    const home = fence({ name: 'Home', latitude: north(99.6), radius: 60 })
    expect(check(here({ latitude: north(90) }), [fence()], [home])).toMatchObject({ result: 'PASS' })
    expect(check(here(), [fence()], [home])).toMatchObject({
      result: 'FAIL',
      reason: '100 m from Home (radius 60 m, accuracy 20 m)',
      observed: { organization: { distance_m: 0 }, user: { distance_m: 100 } },
    })
    expect(check(here(), [home], [fence()]).result).toBe('FAIL')
  })

  test('that is inactive restricts nothing and admits nobody', () => {
    const off = [fence({ is_active: 0 }), { ...berlin, name: 'Home', radius: 150, enabled: false }]
    expect(check(here(), off).result).toBe('NOT_APPLICABLE')
    expect(check(here(), [...off, fence({ name: 'Depot', latitude: 48 })]).result).toBe('FAIL')
  })

  test.each([
    { latitude: Number.NaN },
    { longitude: 181 },
    { radius: Infinity },
    { radius: 0 },
    { radius: -5 },
    { radius: '150' as never },
  ])('that counts but is invalid admits nobody: %o', (change) => {
    expect(check(here(), [fence(change)])).toMatchObject({
      result: 'FAIL',
      reason: 'no active geofence can be read',
    })
    expect(check(here(), [fence(change), fence()]).result).toBe('PASS')
  })

  test('shows hidden characters of its name', () => {
    expect(check(here(), [fence({ name: 'A\u202eB\ud800' })]).reason).toContain('A\\u{202e}B\\u{d800}')
  })
})

describe('a location', () => {
  test.each([
    ['no location was provided', undefined],
    ['no location was provided', null],
    ['the location cannot be read', 'here'],
    ['the location has no valid latitude and longitude', here({ latitude: Number.NaN })],
    ['the location has no valid latitude and longitude', here({ longitude: Infinity })],
    ['the location has no valid latitude and longitude', here({ latitude: '52.52' })],
    ['the location has no valid latitude and longitude', here({ longitude: 200 })],
    ['the location has no valid accuracy', here({ accuracy_m: -1 })],
    ['the location has no valid accuracy', here({ accuracy_m: Number.NaN })],
    ['the location has no valid accuracy', here({ accuracy_m: Infinity })],
    ['the location has no valid accuracy', here({ accuracy_m: 1e300 })],
    ['the location has no valid accuracy', here({ accuracy_m: undefined })],
    ['the location has no valid time', here({ at: undefined })],
    ['the location has no valid time', here({ at: '2026-03-02 08:12' })],
    ['the location has no valid time', here({ at: '2026-03-02T08:12:00' })],
    ['the location has no valid time', here({ at: '2026-02-30T08:12:00Z' })],
    ['the location has no valid time', here({ at: 1_772_439_120_000 })],
    ['the location is 301 s old (at most 300 s)', here({ at: '2026-03-02T08:06:59.999Z' })],
    ['the time of the location is in the future', here({ at: '2026-03-02T08:12:00.001Z' })],
  ])('is rejected: %s (%#)', (reason, location) => {
    expect(check(location)).toEqual({ result: 'INSUFFICIENT_DATA', reason, expected: null, observed: null })
  })

  test('may be five minutes old, in any time zone', () => {
    expect(check(here({ at: '2026-03-02T08:07:00.000Z' })).result).toBe('PASS')
    expect(check(here({ at: '2026-03-02T09:12:00+01:00' })).result).toBe('PASS')
  })

  test('that is less accurate is never admitted when a more accurate one is not', () => {
    fc.assert(
      fc.property(
        fc.array(anyFence, { minLength: 1, maxLength: 30 }),
        fc.nat(29),
        double(-0.5, 0.5),
        double(0, 500_000),
        double(0, 500_000),
        (fences, which, off, one, two) => {
          const near = fences[which % fences.length]!
          const latitude = Math.max(-90, Math.min(90, near.latitude + off))
          const place = (accuracy_m: number) => here({ latitude, longitude: near.longitude, accuracy_m })
          const [better, worse] = [Math.min(one, two), Math.max(one, two)]
          const [often, seldom] = [check(place(better), fences).result, check(place(worse), fences).result]
          expect([often, seldom]).not.toEqual(['FAIL', 'PASS'])
        },
      ),
    )
  })
})

describe('the index of fences', () => {
  test('gives the same result as checking every fence', () => {
    let inside = 0
    fc.assert(
      fc.property(
        fc.array(anyFence, { minLength: 1, maxLength: 200 }),
        fc.oneof(fc.constant(90), fc.constant(-90), double(-90, 90)),
        fc.oneof(fc.constant(180), fc.constant(-180), double(-180, 180)),
        (fences, latitude, longitude) => {
          const place = pointAt(latitude, longitude)!
          const found = compileFences(fences)!.nearest(place)!
          const margins = fences.map(
            (one) => ground(chord(place, pointAt(one.latitude, one.longitude)!)) - one.radius,
          )
          const least = Math.min(...margins)
          if (least < 0) inside++
          // A kilometre outside every fence. Ten per cent farther is enough.
          const tolerance = least > 1000 ? least / 9 : 0.0011
          expect(found.distance - found.radius - least).toBeLessThan(tolerance)
        },
      ),
      { numRuns: 500 },
    )
    expect(inside).toBeGreaterThan(20)
  })

  test('does not depend on the order of the fences', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyFence, { minLength: 1, maxLength: 60 })
          .chain((fences) =>
            fc.tuple(fc.constant(fences), fc.shuffledSubarray(fences, { minLength: fences.length })),
          ),
        double(-90, 90),
        double(-180, 180),
        ([fences, shuffled], latitude, longitude) => {
          const place = here({ latitude, longitude })
          expect(check(place, shuffled)).toEqual(check(place, fences))
        },
      ),
    )
  })

  test('names the same one of two identical fences, whichever was stored first', () => {
    const [one, two] = [fence({ name: 'A' }), fence({ name: 'B' })]
    expect(check(here(), [one, two])).toEqual(check(here(), [two, one]))
  })

  test('finds one of 10,000 fences, and one of 10,000 identical ones', () => {
    const grid = Array.from({ length: 10_000 }, (_, i) =>
      fence({ name: `F${i}`, latitude: -80 + (i % 100) * 1.6, longitude: -180 + Math.floor(i / 100) * 3.6 }),
    )
    for (const one of [grid[0]!, grid[4711]!, grid[9999]!])
      expect(check(here({ latitude: one.latitude, longitude: one.longitude }), grid).reason).toContain(
        `from ${one.name} `,
      )
    expect(
      check(
        here(),
        Array.from({ length: 10_000 }, () => fence()),
      ).result,
    ).toBe('PASS')
  })
})
