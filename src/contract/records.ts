import * as z from 'zod/mini'
import { fullIsoTime } from '../core/iso-time.ts'
import { chosen, formed, id, line, nullable, optional, positive, shown, whole } from './field.ts'
import { scopes } from './scopes.ts'

// Fields that several groups share. Times are ISO 8601 in UTC with milliseconds.

export const org_id = shown(positive, 'Organization id', { example: 1 })
export const user_id = shown(id, 'User id', { example: '7' })
/** The organization, if the caller may leave it out. */
export const orgOfKey = optional(positive, 'Organization id; default: the organization of the key', {
  example: 1,
})
export const orgOfUser = optional(positive, 'Organization id; required if the user is in several', {
  example: 1,
})
export const time = z.string()
export const times = {
  created_at: chosen(time, 'When it was created'),
  updated_at: chosen(time, 'When it was last changed'),
}

/** Personal data: examples, and the mark that makes tables mask it. */
export const personal = {
  email: { example: 'ada@acme.example', personal: true },
  /** National; `country_code` belongs to it. */
  mobile: { example: '2025550101', personal: true },
  e164: { example: '+12025550101', personal: true },
} as const

export const limit = optional(whole(1, 1000), 'Rows per page; default: all rows', { example: 100 })
export const cursor = optional(
  formed(/^[\w-]{1,128}$/, 'must be a cursor from a Link header'),
  'Start of the page, from the Link header',
)
export const paging = { limit, cursor }

const isoTime = z.iso.datetime({ offset: true })
/** A time in an input, with its offset from UTC. */
export const moment = z.string().check(
  z.overwrite(fullIsoTime),
  z.refine((text) => isoTime.safeParse(text).success, 'must be a time such as 2030-01-31T18:00:00Z'),
)

/** Filters of a list by time. The newest row comes first. */
export const timeline = {
  since: optional(moment, 'Only rows from this time on', {
    example: '2030-01-31T18:00:00Z',
    past: true,
  }),
  until: optional(moment, 'Only rows before this time', {
    example: '2030-01-31T19:00:00Z',
    past: true,
  }),
  ...paging,
}

export const is_active = z.union([z.literal(0), z.literal(1)])
export const latitude = z
  .number('must be a number')
  .check(z.gte(-90, 'must be -90 or more'), z.lte(90, 'must be 90 or less'))
export const longitude = z
  .number('must be a number')
  .check(z.gte(-180, 'must be -180 or more'), z.lte(180, 'must be 180 or less'))
export const accuracy = z.number('must be a number').check(z.gte(0, 'must be 0 or more'))
/** Metres. spec: not shown (unit and bounds) */
export const radius = z
  .int('must be a whole number of metres')
  .check(z.gte(1, 'must be 1 metre or more'), z.lte(1_000_000, 'must be 1,000,000 metres or less'))

export const email = line(254).check(
  // Excludes characters that separate addresses, and invisible ones.
  z.regex(
    /^[^\s@<>(),:;"\\[\]\p{C}]{1,64}@[^\s@.<>(),:;"\\[\]\p{C}]+(?:\.[^\s@.<>(),:;"\\[\]\p{C}]+)+$/u,
    'must be an e-mail address such as ada@example.com',
  ),
)
export const mobile = line(32)
export const mobileE164 = mobile.check(
  z.regex(/^\+/, 'must start with + and the country prefix, such as +12025550101'),
)
export const slug = line(60).check(
  z.regex(
    /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/,
    'must be lower-case letters, digits and single hyphens, with at least one letter',
  ),
)

export const factors = ['biometric', 'location', 'time', 'device'] as const
export const roles = ['operator', 'admin', 'member'] as const
/** Channels that reach people. */
export const messageChannels = ['email', 'sms', 'push'] as const
export const deliveryChannels = [...messageChannels, 'webhook'] as const
export const states = ['pending', 'active', 'rejected', 'removed'] as const

export const country_code = line(5).check(
  z.regex(/^\+[1-9]\d{0,3}$/, 'must be a dialing prefix with plus, such as +1'),
)

/** A number in the two parts of the specification, and in E.164. */
export const phoneFields = {
  country_code: chosen(z.string(), 'Dialing prefix with plus'),
  mobile: chosen(z.string(), 'Mobile number, national', { personal: true }),
  mobile_e164: chosen(z.string(), 'Mobile number, E.164', { personal: true }),
}

/** One person in one organization. */
export const userRecord = z.looseObject({
  id: chosen(id, 'User id'),
  org_id: chosen(positive, 'Organization id'),
  ...phoneFields,
  email: chosen(z.string(), 'E-mail address', { personal: true }),
  first_name: chosen(z.string(), 'First name'),
  last_name: chosen(z.string(), 'Last name'),
  role: chosen(z.enum(roles), 'Role in the organization'),
  state: chosen(z.enum(states), 'State in the organization'),
  held_at: nullable(time, 'When they were put on hold; null for whoever is not'),
  ...times,
})

/** The fields by which people distinguish organizations. */
export const organizationName = z.looseObject({
  id: chosen(positive, 'Organization id'),
  name: chosen(z.string(), 'Name of the organization'),
  slug: chosen(z.string(), 'Slug of the organization'),
})
/** An organization of a person. */
export const membershipRecord = z.looseObject({
  ...organizationName.shape,
  role: chosen(z.enum(roles), 'Role in the organization'),
  state: chosen(z.enum(states), 'State in the organization'),
})

/** Delivery of the link that registers the first phone of an accepted user. No answer contains the link itself. */
export const sentEnrollment = nullable(
  z.looseObject({
    channel: nullable(z.enum(messageChannels), 'How the link is sent; null if it cannot be sent'),
    message_id: nullable(z.string(), 'Id of the message in the outbox'),
    expires_at: nullable(time, 'When the link expires'),
    next: nullable(z.string(), 'What to do if no link was sent'),
  }),
  'The link that registers a phone; null for a user who has a device',
)
export const keyRecord = z.looseObject({
  id: chosen(id, 'Key id'),
  name: chosen(z.string(), 'Name, as the audit log shows it'),
  kind: chosen(
    z.enum(['operator', 'service', 'organization']),
    'operator: everything; service: every organization, within its scopes; organization: its own organization',
  ),
  org_id: nullable(positive, 'Organization id; null for a key of the whole service'),
  prefix: chosen(z.string(), 'First characters of the key'),
  created_at: chosen(time, 'When it was created'),
  last_used_at: nullable(time, 'When it was last used, to the minute'),
  expires_at: nullable(time, 'When it expires; a rotation ends the replaced secret'),
  revoked_at: nullable(time, 'When it was revoked'),
  scopes: chosen(z.array(z.enum(scopes)), 'What the key can do'),
  created_by: nullable(id, 'Key that created it; null if the service did'),
  owner_user_id: nullable(id, 'User who owns the key, as its creator claims'),
  owner_confirmed_at: nullable(time, 'When this user confirmed it on their phone'),
  owner_left_at: nullable(
    time,
    'When this user, or the owner of the key that created it, left; it works for 30 more days at most',
  ),
  client_name: nullable(
    z.string(),
    'Of an agent or a terminal that a person signed in: the name that it claims',
  ),
  root_id: chosen(id, 'The first secret of the key, which created_by of other keys names'),
  replaced: chosen(z.boolean(), 'Whether a rotation replaced this secret; it works until it expires'),
  ended: chosen(
    z.nullable(z.enum(['signed_out'])),
    'Why it does not work any more: the device that allowed it was removed, or its person may do less than it',
  ),
})

/** A secret of a key, without the secret itself. */
export const keySecret = z.looseObject({
  id: chosen(id, 'Key id of the secret'),
  prefix: chosen(z.string(), 'First characters of the secret'),
  expires_at: nullable(time, 'When it stops working'),
})

export const newKey = z.extend(keyRecord, {
  key: chosen(z.string(), 'The key itself, shown once', { secret: true }),
})

/** A location as the phone reports it. It has an age instead of a time, because the clock of a phone can be wrong. */
export const place = z.strictObject({
  latitude: chosen(latitude, 'Latitude, degrees (WGS84)'),
  longitude: chosen(longitude, 'Longitude, degrees (WGS84)'),
  accuracy_m: chosen(accuracy, 'Accuracy, metres'),
  age_ms: chosen(accuracy, 'Age of the location, milliseconds'),
})

/** A WebAuthn object as browsers serialize it (`toJSON`); the WebAuthn library checks it. */
export const webauthn = z.looseObject({
  id: chosen(z.string(), 'Credential id'),
  response: chosen(z.looseObject({}), 'Response of the authenticator'),
})

/** The signature of a device over a challenge of the service. */
export const signedChallenge = {
  challenge: chosen(line(500), 'The challenge from the service'),
  response: chosen(webauthn, 'AuthenticationResponseJSON of WebAuthn'),
}
const challengeRecord = z.looseObject({
  challenge: chosen(z.string(), 'Signed by the service, valid for two minutes, base64url'),
})
/** What all operations have in common that give the challenge for another one. */
export const givesChallenge = {
  effect: 'read',
  cookieAlone: true,
  message: 'Challenge',
  data: challengeRecord,
} as const

/** The result of one rule. */
export const ruling = z.looseObject({
  factor: chosen(z.string(), 'Name of the rule'),
  result: chosen(
    z.enum(['PASS', 'FAIL', 'NOT_APPLICABLE', 'INSUFFICIENT_DATA']),
    'NOT_APPLICABLE: no rule restricts it',
  ),
  reason: chosen(z.string(), 'Reason for the result'),
  expected: chosen(z.unknown(), 'What is allowed, by level'),
  observed: chosen(z.unknown(), 'What was checked, by level'),
})

/** The result of one rule at a decision. */
export const factorRuling = z.extend(ruling, {
  policy: nullable(
    z.enum(['required', 'report_only']),
    'Whether the decision required it; report_only and null never prevent an approval',
  ),
})
