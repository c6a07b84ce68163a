import { describe, expect, test } from 'vitest'
import { conditionsOf, type Condition } from '../../src/factors/conditions.ts'
import { compileLevel } from '../../src/factors/level.ts'
import type { Policy } from '../../src/factors/decide.ts'
import type { Fence } from '../../src/factors/fence-index.ts'
import type { Slot } from '../../src/factors/slot.ts'
import { blank } from './evidence.ts'

const level = (fences: Fence[] = [], slots: Slot[] = []) => compileLevel({ fences, slots })
const policyOf = (changes: Partial<Policy> = {}): Policy => ({
  ...blank,
  required: ['biometric'],
  ...changes,
})
const hours: Slot = {
  name: 'Office hours',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
}
const fence = (name: string): Fence => ({ name, latitude: 52.5, longitude: 13.4, radius: 200 })
// A Thursday, 13:00 in Berlin.
const at = '2030-01-31T12:00:00.000Z'
const evidence = {
  at,
  user_id: 7,
  ip: '203.0.113.9',
  device: { id: 5, registered_to: 7, revoked: false },
  biometric: { user_verified: true },
}
const conditions = (changes: Partial<Policy>, more: object = {}): Condition[] =>
  conditionsOf(policyOf(changes), { ...evidence, ...more })
const biometric = { factor: 'biometric', required: true, options: [], total: 0, outlook: 'pass' }

describe('the conditions of an approval', () => {
  test('are only the biometric without any rule', () => {
    expect(conditions({})).toEqual([biometric])
  })

  test('name the hours, and fail outside of them', () => {
    const organization = level([], [hours])
    const named = { factor: 'time', options: ['Office hours (Mon-Fri 09:00-17:30), Europe/Berlin'] }
    expect(conditions({ organization })[1]).toMatchObject({ ...named, outlook: 'pass' })
    const night = { at: '2030-01-31T22:00:00.000Z' }
    expect(conditions({ organization }, night)[1]).toMatchObject({ ...named, outlook: 'fail' })
  })

  test('require one slot of each level', () => {
    const organization = level([], [hours])
    const user = level([], [{ ...hours, name: 'Nights', start: '22:00', end: '06:00' }])
    const outlooks = conditions({ organization, user }).map(({ factor, outlook }) => [factor, outlook])
    expect(outlooks).toEqual([
      ['biometric', 'pass'],
      ['time', 'pass'],
      ['time', 'fail'],
    ])
  })

  test('name three places, and never guess where the phone is', () => {
    const organization = level(['D', 'C', 'B', 'A'].map(fence))
    expect(conditions({ organization })[1]).toEqual({
      factor: 'location',
      required: true,
      options: ['A', 'B', 'C'],
      total: 4,
      outlook: 'unknown',
    })
  })

  test('compare the network and the device', () => {
    const ipAllow = ['198.51.100.0/24']
    expect(conditions({ ipAllow, deviceTrust: true }).slice(1)).toEqual([
      { factor: 'device', required: true, options: [], total: 0, outlook: 'pass' },
      { factor: 'ip', required: true, options: ipAllow, total: 1, outlook: 'fail' },
    ])
  })

  test('mark what is only recorded', () => {
    const organization = level([fence('Office')])
    expect(conditions({ organization, reportOnly: ['location'] })[1]).toMatchObject({
      factor: 'location',
      required: false,
    })
  })
})
