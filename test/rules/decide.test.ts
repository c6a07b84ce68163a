import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, hasPolicy, type Evidence, type Policy } from '../../src/rules/decide.ts'
import type { Fence } from '../../src/rules/fence-index.ts'
import { compileLevel } from '../../src/rules/level.ts'
import type { Slot } from '../../src/rules/slot.ts'
import { factors, type Factor } from '../../src/rules/verdict.ts'

const at = '2026-03-02T09:12:00.000Z'
const fence: Fence = { name: 'Headquarters', latitude: 52.52, longitude: 13.405, radius: 150, is_active: 1 }
const slot: Slot = {
  name: 'Office hours',
  days: ['mon', 'tue'],
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
}
const nothing = compileLevel({ fences: [], slots: [] })
const office = compileLevel({ fences: [fence], slots: [slot] })
const blank: Policy = {
  required: [],
  reportOnly: [],
  ipAllow: [],
  deviceTrust: false,
  organization: nothing,
  user: nothing,
}
const strict: Policy = {
  ...blank,
  required: ['biometric', 'location', 'time', 'device', 'ip'],
  ipAllow: ['203.0.113.0/24'],
  deviceTrust: true,
  organization: office,
}
const good: Evidence = {
  at,
  user_id: 7,
  location: { latitude: 52.52, longitude: 13.405, accuracy_m: 20, at },
  ip: '203.0.113.9',
  device: { id: 4, registered_to: 7, revoked: false },
  biometric: { user_verified: true },
}
const thrown = () => {
  throw new Error('no')
}
const all = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length })
/** Each factor's own piece of the evidence. */
const piece = {
  biometric: 'biometric',
  location: 'location',
  time: 'at',
  device: 'device',
  ip: 'ip',
} as const
const hostile = (evidence: object): Evidence => evidence as Evidence
const resultOf = (policy: Policy, evidence: Evidence, factor: string) =>
  decide(policy, evidence).factors.find((one) => one.factor === factor)!

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

describe('a decision', () => {
  test('allows when every factor passes, and says why', () => {
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

  test.each(factors)('does not allow when %s alone fails', (factor) => {
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
  )('fails %s when its evidence is %o', (factor, value) => {
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

  test.each([undefined, null, 'evidence', 7])(
    'allows nothing when the evidence as a whole is %o',
    (evidence) => {
      const decision = decide(strict, evidence as never)
      expect(decision.allow).toBe(false)
      expect(decision.factors.map(({ result }) => result)).toEqual(factors.map(() => 'FAIL'))
    },
  )

  test('never throws and never allows on evidence that is made up', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), fc.constantFrom(...factors), (value, factor) => {
        expect(decide(strict, hostile({ ...good, [piece[factor]]: value })).allow).toBe(false)
        expect(decide(strict, value as never).allow).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('is not made by words that only look like proof', () => {
    for (const user_verified of ['true', 1, 'PASS', {}, [true]])
      expect(decide(strict, hostile({ ...good, biometric: { user_verified } })).allow).toBe(false)
  })
})

describe('a factor that is required', () => {
  test.each(['location', 'time', 'ip'] as const)('fails when no policy stands behind %s', (factor) => {
    const policy = { ...blank, required: [factor] }
    expect(hasPolicy(policy, factor)).toBe(false)
    expect(hasPolicy(strict, factor)).toBe(true)
    expect(decide(policy, good).allow).toBe(false)
    expect(resultOf(policy, good, factor)).toMatchObject({
      result: 'FAIL',
      reason: expect.stringMatching(/^no /),
    })
  })

  test.each(['biometric', 'device'] as const)('needs no policy when it is %s', (factor) => {
    expect(hasPolicy(blank, factor)).toBe(true)
    expect(decide({ ...blank, required: [factor] }, good).allow).toBe(true)
    expect(decide({ ...blank, required: [factor] }, { at, user_id: 7 }).allow).toBe(false)
  })

  test.each(['voice', 'constructor', '__proto__', 'toString'])('fails when no rule knows %s', (name) => {
    const decision = decide({ ...blank, required: [name as Factor, 'biometric'] }, good)
    expect(decision.allow).toBe(false)
    expect(decision.factors.at(-1)).toMatchObject({ factor: name, result: 'FAIL', policy: 'required' })
  })
})

describe('a factor that nobody asked for', () => {
  test('does not apply where nothing is configured', () => {
    expect(decide(blank, hostile({}))).toMatchObject({
      allow: true,
      factors: factors.map((factor) => ({ factor, policy: null, result: 'NOT_APPLICABLE' })),
    })
  })

  test.each([
    ['location', { organization: office }],
    ['location', { user: office }],
    ['time', { organization: office }],
    ['device', { deviceTrust: true }],
    ['ip', { ipAllow: ['203.0.113.0/24'] }],
  ] as const)('is enforced where %s is configured: %o', (factor, configured) => {
    const policy = { ...blank, ...configured }
    expect(decide(policy, good).allow).toBe(true)
    expect(decide(policy, hostile({ ...good, [piece[factor]]: undefined })).allow).toBe(false)
  })
})

describe('a factor that is only reported', () => {
  const reported = { ...strict, reportOnly: [...factors] }

  test('is told as it is and never denies', () => {
    const { allow, factors: told } = decide(reported, { at, user_id: 7, ip: '198.51.100.7' })
    expect(allow).toBe(true)
    expect(told.map(({ factor, policy, result }) => [factor, policy, result])).toEqual([
      ['biometric', 'report_only', 'INSUFFICIENT_DATA'],
      ['location', 'report_only', 'INSUFFICIENT_DATA'],
      ['time', 'report_only', 'PASS'],
      ['device', 'report_only', 'INSUFFICIENT_DATA'],
      ['ip', 'report_only', 'FAIL'],
    ])
  })

  test('does not apply without a policy', () => {
    expect(resultOf({ ...blank, reportOnly: ['location'] }, good, 'location').result).toBe('NOT_APPLICABLE')
  })

  test('changes nothing for the others, whatever is known', () => {
    const maybe = fc.record(
      {
        location: fc.constantFrom(good.location, { ...good.location!, latitude: 53 }, 'x'),
        ip: fc.constantFrom('203.0.113.9', '198.51.100.7', 'x'),
        device: fc.constantFrom(good.device, { ...good.device!, revoked: true }, 'x'),
        biometric: fc.constantFrom({ user_verified: true }, { user_verified: false }, 'x'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        maybe,
        fc.subarray([...factors]),
        fc.subarray([...factors]),
        (known, required, reportOnly) => {
          const evidence = hostile({ at, user_id: 7, ...known })
          const plain = { ...strict, required }
          const decision = decide({ ...plain, reportOnly }, evidence)
          const denied = decision.factors.filter(
            ({ policy, result }) => policy === 'required' && result !== 'PASS',
          )
          expect(decision.allow).toBe(denied.length === 0)
          expect(denied.filter(({ factor }) => reportOnly.includes(factor as Factor))).toEqual([])
          const without = decide(plain, evidence)
          expect(decision.allow || !without.allow).toBe(true)
          const others = decision.factors.filter(({ factor }) => !reportOnly.includes(factor as Factor))
          expect(without.factors).toEqual(expect.arrayContaining(others))
        },
      ),
    )
  })
})

const device = (change: object) =>
  resultOf(strict, hostile({ ...good, device: { ...good.device, ...change } }), 'device')

describe('a device', () => {
  const imei = '490154203237518'

  test.each([
    [{}, 'PASS', 'the device is registered to this user'],
    [{ id: 'pixel-8', imei: null, known_imei: null }, 'PASS', 'the device is registered to this user'],
    [{ imei, known_imei: imei }, 'PASS', 'the device is registered to this user'],
    [{ imei }, 'PASS', 'the device is registered to this user'],
    [{ registered_to: 8 }, 'FAIL', 'the device is not registered to this user'],
    [{ registered_to: '7' }, 'FAIL', 'the device is not registered to this user'],
    [{ registered_to: null }, 'FAIL', 'the device is not registered to this user'],
    [{ revoked: true }, 'FAIL', 'the device is revoked'],
    [{ known_imei: imei }, 'FAIL', 'the IMEI is not that of the registered device'],
    [{ imei: '356938035643809', known_imei: imei }, 'FAIL', 'the IMEI is not that of the registered device'],
    [{ revoked: 0 }, 'FAIL', 'the device cannot be read'],
    [{ revoked: undefined }, 'FAIL', 'the device cannot be read'],
    [{ id: '' }, 'FAIL', 'the device cannot be read'],
    [{ id: Number.NaN }, 'FAIL', 'the device cannot be read'],
  ])('%o: %s', (change, result, reason) => {
    expect(device(change)).toMatchObject({ result, reason })
  })

  test('of nobody is not that of a user without an id', () => {
    const evidence = hostile({
      ...good,
      user_id: undefined,
      device: { ...good.device, registered_to: undefined },
    })
    expect(resultOf(strict, evidence, 'device').result).toBe('FAIL')
  })

  test('keeps its IMEI to itself', () => {
    expect(JSON.stringify(device({ imei, known_imei: imei }))).not.toContain(imei)
  })
})

describe('deciding', () => {
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

  test('changes nothing it was given and answers the same again', () => {
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

  test('does not look at the clock or the zone of the machine', () => {
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

  test('answers only what JSON can say', () => {
    for (const evidence of [good, hostile({})]) {
      const decision = decide(strict, evidence)
      expect(JSON.parse(JSON.stringify(decision))).toEqual(decision)
    }
  })
})
