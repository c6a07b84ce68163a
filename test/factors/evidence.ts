import { decide, type Evidence, type Policy } from '../../src/factors/decide.ts'
import type { Fence } from '../../src/factors/fence-index.ts'
import { compileLevel } from '../../src/factors/level.ts'
import type { Slot } from '../../src/factors/slot.ts'

export const at = '2026-03-02T09:12:00.000Z'
export const fence: Fence = {
  name: 'Headquarters',
  latitude: 52.52,
  longitude: 13.405,
  radius: 150,
  is_active: 1,
}
export const slot: Slot = {
  name: 'Office hours',
  days: ['mon', 'tue'],
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
}
const nothing = compileLevel({ fences: [], slots: [] })
export const office = compileLevel({ fences: [fence], slots: [slot] })
export const blank: Policy = {
  required: [],
  reportOnly: [],
  ipAllow: [],
  deviceTrust: false,
  organization: nothing,
  user: nothing,
}
export const strict: Policy = {
  ...blank,
  required: ['biometric', 'location', 'time', 'device', 'ip'],
  ipAllow: ['203.0.113.0/24'],
  deviceTrust: true,
  organization: office,
}
export const good: Evidence = {
  at,
  user_id: 7,
  location: { latitude: 52.52, longitude: 13.405, accuracy_m: 20, at },
  ip: '203.0.113.9',
  device: { id: 4, registered_to: 7, revoked: false },
  biometric: { user_verified: true },
}

/** The evidence of each factor. */
export const piece = {
  biometric: 'biometric',
  location: 'location',
  time: 'at',
  device: 'device',
  ip: 'ip',
} as const
export const hostile = (evidence: object): Evidence => evidence as Evidence
export const resultOf = (policy: Policy, evidence: Evidence, factor: string) =>
  decide(policy, evidence).factors.find((one) => one.factor === factor)!
