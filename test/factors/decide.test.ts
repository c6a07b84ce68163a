import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, type Evidence } from '../../src/factors/decide.ts'
import { compileLevel } from '../../src/factors/level.ts'
import { factors, type Factor } from '../../src/factors/verdict.ts'
import { fence, good, hostile, piece, resultOf, slot, strict } from './evidence.ts'

const thrown = () => {
  throw new Error('no')
}
const all = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length })

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

describe('a decision', () => {
  test('allows when every factor passes, and gives reasons', () => {
    const { allow, factors } = decide(strict, good)
    expect(allow).toBe(true)
    expect(factors.map(({ factor, policy, result, reason }) => [factor, policy, result, reason])).toEqual([
      ['biometric', 'required', 'PASS', 'the device verified its user'],
      ['location', 'required', 'PASS', '0 m from Headquarters (radius 150 m, accuracy 20 m)'],
      ['time', 'required', 'PASS', 'Mon 10:12 Europe/Berlin is inside Office hours (Mon, Tue 09:00-17:30)'],
      ['device', 'required', 'PASS', 'the device is registered to this user'],
      ['ip', 'required', 'PASS', '203.0.113.9 is in 203.0.113.0/24'],
    ])
  })

  test.each(factors)('does not allow when only %s fails', (factor) => {
    const bad = {
      biometric: { biometric: { user_verified: false } },
      location: { location: { ...good.location!, latitude: 53 } },
      time: {
        at: '2026-03-02T23:00:00.000Z',
        location: { ...good.location!, at: '2026-03-02T23:00:00.000Z' },
      },
      device: { device: { ...good.device!, revoked: true } },
      ip: { ip: '198.51.100.7' },
    }[factor]
    const decision = decide(strict, { ...good, ...bad })
    expect(decision.allow).toBe(false)
    expect(decision.factors.filter(({ result }) => result !== 'PASS').map((one) => one.factor)).toEqual([
      factor,
    ])
  })

  test.each(
    factors.flatMap((factor) =>
      [undefined, null, '', 'PASS', 0, 1, true, Number.NaN, [], {}, () => true, Symbol('x')].map(
        (value) => [factor, value] as const,
      ),
    ),
  )('fails %s with the evidence %o', (factor, value) => {
    const decision = decide(strict, hostile({ ...good, [piece[factor]]: value }))
    expect(decision.allow).toBe(false)
    expect(decision.factors.find((one) => one.factor === factor)).toMatchObject({
      result: 'FAIL',
      policy: 'required',
    })
  })

  test.each(factors)('fails %s when reading its evidence throws', (factor) => {
    const inside = new Proxy({}, { get: thrown, has: thrown, ownKeys: thrown })
    for (const evidence of [
      Object.defineProperty({ ...good }, piece[factor], { get: thrown }),
      { ...good, [piece[factor]]: inside },
    ]) {
      expect(decide(strict, evidence).allow).toBe(false)
      expect(resultOf(strict, evidence, factor).result).toBe('FAIL')
    }
  })

  test.each([undefined, null, 'evidence', 7])('allows nothing with %o as evidence', (evidence) => {
    const decision = decide(strict, evidence as never)
    expect(decision.allow).toBe(false)
    expect(decision.factors.map(({ result }) => result)).toEqual(factors.map(() => 'FAIL'))
  })

  test('never throws and never allows on generated evidence', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), fc.constantFrom(...factors), (value, factor) => {
        expect(decide(strict, hostile({ ...good, [piece[factor]]: value })).allow).toBe(false)
        expect(decide(strict, value as never).allow).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('is not made by words that only look like evidence', () => {
    for (const user_verified of ['true', 1, 'PASS', {}, [true]])
      expect(decide(strict, hostile({ ...good, biometric: { user_verified } })).allow).toBe(false)
  })
})

describe('the decision function', () => {
  test('does not depend on the order of anything', () => {
    const policy = { ...strict, ipAllow: ['203.0.113.0/24', '203.0.0.0/16', '192.0.2.0/24'] }
    const names = [...factors, 'voice', 'gait'] as Factor[]
    const first = decide({ ...policy, required: names }, good)
    fc.assert(
      fc.property(
        all(names),
        all(policy.ipAllow),
        all(Object.entries(good)),
        (required, ipAllow, entries) => {
          expect(decide({ ...policy, required, ipAllow }, Object.fromEntries(entries) as Evidence)).toEqual(
            first,
          )
        },
      ),
    )
  })

  test('does not change its input and is repeatable', () => {
    const rows = freeze({ fences: [fence, { ...fence, radius: 90 }], slots: [slot] })
    const policy = Object.freeze({
      ...strict,
      organization: compileLevel(rows),
      user: compileLevel(rows),
    })
    freeze([policy.required, policy.reportOnly, policy.ipAllow])
    const evidence = freeze(structuredClone(good))
    const first = decide(policy, evidence)
    expect(decide(policy, evidence)).toEqual(first)
    expect(decide({ ...policy, organization: compileLevel(rows) }, evidence)).toEqual(first)
  })

  test('does not use the clock or the zone of the machine', () => {
    const zone = process.env.TZ
    const first = decide(strict, good)
    try {
      for (const other of ['Pacific/Kiritimati', 'America/Los_Angeles']) {
        process.env.TZ = other
        expect(
          decide({ ...strict, organization: compileLevel({ fences: [fence], slots: [slot] }) }, good),
        ).toEqual(first)
      }
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  test('returns only JSON values', () => {
    for (const evidence of [good, hostile({})]) {
      const decision = decide(strict, evidence)
      expect(JSON.parse(JSON.stringify(decision))).toEqual(decision)
    }
  })
})
