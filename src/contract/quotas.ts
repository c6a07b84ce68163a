/** The default limits of an organization; the operator of the service can change each. */
export const quotas = {
  key_requests_per_second: {
    standard: 250,
    least: 1,
    about: 'Requests per second of one key or one person',
  },
  requests_per_second: { standard: 1_000, least: 1, about: 'Requests per second of all keys together' },
  sms_per_day: { standard: 1_000, least: 0, about: 'Text messages per 24 hours' },
  users: { standard: 50_000, least: 0, about: 'Users, active or pending' },
  geofences: { standard: 20_000, least: 0, about: 'Geofences of the organization and of its users' },
  timeslots: { standard: 20_000, least: 0, about: 'Time slots of the organization and of its users' },
  groups: { standard: 100, least: 0, about: 'Groups of the organization' },
  keys: { standard: 1_000, least: 0, about: 'API keys that keys or people created' },
  pending_approvals: { standard: 2_000, least: 0, about: 'Pending approvals of all approvers together' },
  idempotency_mib: { standard: 256, least: 1, about: 'MiB of responses stored for repeated requests' },
} as const satisfies Record<string, { standard: number; least: number; about: string }>

export type Quota = keyof typeof quotas

export const quotaNames = Object.keys(quotas) as Quota[]

export const smsCountries = {
  about: 'Dialing prefixes that text messages can be sent to',
  standard: ['all'],
  /** Satellite, shared-cost and premium-rate numbers belong to no country, so each prefix must be allowed by name. */
  global: ['+800', '+808', '+870', '+878', '+881', '+882', '+883', '+888', '+979'],
} as const

export const limitNames = [...quotaNames, 'sms_countries'] as const

/** Quotas that are counted in the store; the others are request rates. */
export type Counted = Exclude<Quota, 'key_requests_per_second' | 'requests_per_second'>
