import * as z from 'zod/mini'
import { chosen, formed, nullable, optional, whole } from './field.ts'
import { operations } from './declaration.ts'
import { limitNames, quotas, smsCountries, type Quota } from './quotas.ts'
import { org_id } from './records.ts'

// The limits of an organization, under /svc/v1. spec: not shown

const limit = (name: Quota) => {
  const { standard, least, about } = quotas[name]
  const number = whole(least, 1_000_000_000, '1,000,000,000')
  return optional(number, `${about}; default: ${standard}`, { example: standard })
}

const country = formed(/^(?:all|\+[1-9]\d{0,3})$/, 'must be all, or a dialing prefix with plus, such as +1')

const limitRecord = z.looseObject({
  name: chosen(z.enum(limitNames), 'Name of the limit'),
  limit: chosen(z.union([z.int(), z.array(z.string())]), 'Its value; dialing prefixes for sms_countries'),
  used: nullable(z.int(), 'Current use; null if it is not counted'),
  default: chosen(z.union([z.int(), z.array(z.string())]), 'Its value if the operator sets no other'),
  about: chosen(z.string(), 'Description'),
})

export const limits = operations({
  getLimits: {
    route: 'GET /svc/v1/organizations/{org_id}/limits',
    cli: 'org limits show',
    scope: 'read',
    summary: 'Show the limits of an organization and their current use',
    message: 'Limits',
    example: '--org acme',
    input: z.strictObject({ org_id }),
    data: z.array(limitRecord),
    columns: ['name', 'limit', 'used', 'default', 'about'],
  },
  setLimits: {
    route: 'POST /svc/v1/organizations/{org_id}/limits',
    cli: 'org limits set',
    scope: 'keys',
    operator: true,
    summary: 'Change the limits of an organization',
    message: 'Limits changed',
    example: '--org acme --users 100000 --sms-countries +1,+49',
    input: z.strictObject({
      org_id,
      key_requests_per_second: limit('key_requests_per_second'),
      requests_per_second: limit('requests_per_second'),
      sms_per_day: limit('sms_per_day'),
      sms_countries: optional(
        z.array(country).check(z.maxLength(300, 'must have at most 300 entries')),
        `${smsCountries.about}; default: all (every country)`,
        { example: ['+1', '+49'] },
      ),
      users: limit('users'),
      geofences: limit('geofences'),
      timeslots: limit('timeslots'),
      groups: limit('groups'),
      keys: limit('keys'),
      pending_approvals: limit('pending_approvals'),
      idempotency_mib: limit('idempotency_mib'),
      reset: optional(z.array(z.enum(limitNames)), 'Limits to reset to their defaults', {
        example: ['users'],
      }),
    }),
    data: z.array(limitRecord),
    columns: ['name', 'limit', 'used', 'default', 'about'],
  },
})
