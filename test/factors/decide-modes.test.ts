import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, hasPolicy } from '../../src/factors/decide.ts'
import { factors, type Factor } from '../../src/factors/verdict.ts'
import { at, blank, good, hostile, office, piece, resultOf, strict } from './evidence.ts'

describe('a required factor', () => {
  test.each(['location', 'time', 'ip'] as const)('fails without a policy for %s', (factor) => {
    const policy = { ...blank, required: [factor] }
    expect(hasPolicy(policy, factor)).toBe(false)
    expect(hasPolicy(strict, factor)).toBe(true)
    expect(decide(policy, good).allow).toBe(false)
    expect(resultOf(policy, good, factor)).toMatchObject({
      result: 'FAIL',
      reason: expect.stringMatching(/^no /),
    })
  })

  test.each(['biometric', 'device'] as const)('requires no policy if it is %s', (factor) => {
    expect(hasPolicy(blank, factor)).toBe(true)
    expect(decide({ ...blank, required: [factor] }, good).allow).toBe(true)
    expect(decide({ ...blank, required: [factor] }, { at, user_id: 7 }).allow).toBe(false)
  })

  test.each(['voice', 'constructor', '__proto__', 'toString'])('fails if no rule is called %s', (name) => {
    const decision = decide({ ...blank, required: [name as Factor, 'biometric'] }, good)
    expect(decision.allow).toBe(false)
    expect(decision.factors.at(-1)).toMatchObject({ factor: name, result: 'FAIL', policy: 'required' })
  })
})

describe('a factor without a mode', () => {
  test('does not apply if nothing is configured', () => {
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
  ] as const)('is enforced if %s is configured: %o', (factor, configured) => {
    const policy = { ...blank, ...configured }
    expect(decide(policy, good).allow).toBe(true)
    expect(decide(policy, hostile({ ...good, [piece[factor]]: undefined })).allow).toBe(false)
  })
})

describe('a report-only factor', () => {
  const reported = { ...strict, reportOnly: [...factors] }

  test('is reported and never denies', () => {
    const { allow, factors: results } = decide(reported, { at, user_id: 7, ip: '198.51.100.7' })
    expect(allow).toBe(true)
    expect(results.map(({ factor, policy, result }) => [factor, policy, result])).toEqual([
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

  test('changes nothing for other factors, whatever is known', () => {
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
