import * as z from 'zod/mini'
import { attestation } from './approval.ts'
import { chosen, id, line, positive, shown } from './field.ts'
import { operations } from './operation.ts'
import {
  accuracy,
  country_code,
  factorRuling,
  latitude,
  longitude,
  mobile,
  time,
  user_id,
} from './records.ts'

// The verification of a person who is there right now. Of the answers only status and message are shown.

const organization = chosen(z.optional(positive), 'Organization id; a key of an organization means its own', {
  example: 1,
})
const request_id = chosen(line(64), 'Request id of the verification', { example: 'apr_3mYk8wQZ' })
const user = chosen(id, 'Who is verified')
const which = chosen(
  z.optional(line(64)),
  'Which verification, by its request id; the newest when left out',
  {
    example: 'apr_3mYk8wQZ',
  },
)

/** What one rule said, and on whose word. */
export const factorResult = z.extend(factorRuling, {
  source: chosen(
    z.enum(['service', 'caller']),
    'Who says so: the service, or the caller, whose word nothing proves',
  ),
})
export type SourcedFactor = z.infer<typeof factorResult>

const verdict = z.enum(['PASS', 'FAIL'])

/** What the rules said of a verification. */
const decided = {
  user_id: user,
  request_id,
  decision: chosen(verdict, 'The decision, all factors together'),
  source: chosen(
    z.enum(['service', 'caller']),
    'What it rests on: the signed answer of the person, or the word of the caller, which nothing proves',
  ),
  factors: chosen(z.array(factorResult), 'The same, factor by factor'),
}

/** What an app knows of the phone that it runs on; not looked at. */
const described = (what: string) => chosen(z.optional(line(100)), `${what}; not looked at`)

export const auth = operations({
  generateAuthToken: {
    method: 'POST',
    path: '/generate-auth-token',
    cli: 'auth token',
    effect: 'write',
    summary: 'Start a verification by the caller; its one-use token is good for 10 minutes',
    message: 'Verification started',
    example: '--mobile +12025550101',
    input: z.strictObject({
      user_id: chosen(z.optional(id), 'User id', { example: '7' }),
      mobile: chosen(z.optional(mobile), 'Or the mobile number, E.164', {
        example: '+12025550101',
        personal: true,
      }),
      org_id: organization,
    }),
    data: z.looseObject({
      request_id,
      user_id: user,
      auth_token: chosen(z.string(), 'For GET /save/faceauth/success/{auth_token}', { secret: true }),
      expires_at: chosen(time, 'When it lapses'),
    }),
  },
  verifyUser: {
    method: 'POST',
    path: '/verify-user',
    cli: 'auth verify-user',
    effect: 'rings',
    summary: 'Ask a person on their phone to verify who they are',
    message: 'Prompt sent',
    example: '--country-code +1 --mobile 2025550101',
    input: z.strictObject({
      country_code: shown(country_code, 'Dialing prefix with plus', { example: '+1' }),
      mobile: shown(mobile, 'Mobile number, national', { example: '2025550101', personal: true }),
      org_id: organization,
    }),
    data: z.looseObject({
      request_id,
      user_id: user,
      number: chosen(
        z.nullable(z.string()),
        'The number that the person types on the phone, where the policy asks for one',
      ),
      expires_at: chosen(time, 'Until when the person can answer'),
    }),
  },
  submitAuthResults: {
    method: 'POST',
    path: '/biometric-geo-fence-auth-results',
    cli: 'auth results',
    args: [],
    effect: 'write',
    summary: 'Submit what the device of a person found; the rules decide, and the verification is spent',
    message: 'Passed',
    example:
      '--user 7 --biometric-result PASS --geo-fence-result PASS --device-id 5 --platform ios --timestamp 2030-01-31T12:00:00Z',
    input: z.strictObject({
      user_id,
      biometric_result: shown(verdict, 'What the biometric check came to', { example: 'PASS' }),
      geo_fence_result: shown(verdict, 'What the check of the place came to', { example: 'PASS' }),
      device_info: shown(
        z.strictObject({
          device_id: shown(
            line(400),
            'Id of the registered device: from `svc user devices list`, of its credential, or what its app registered with',
            { example: '5' },
          ),
          platform: shown(line(64), 'Its platform', { example: 'ios' }),
          imei: chosen(z.optional(line(40)), 'Its IMEI; compared with the one that the user registered', {
            example: '352099001761481',
            personal: true,
          }),
          model: described('Its model'),
          manufacturer: described('Who made it'),
          os: described('Its operating system'),
          os_version: described('The version of that'),
          app_version: described('The version of the app'),
        }),
        'The device that was used',
        { example: { device_id: '5', platform: 'ios' } },
      ),
      location: chosen(
        z.optional(
          z.looseObject({
            latitude: chosen(z.optional(latitude), 'Where the device was, degrees (WGS84)', {
              example: 52.52,
            }),
            longitude: chosen(z.optional(longitude), 'Where the device was, degrees (WGS84)', {
              example: 13.405,
            }),
            accuracy_m: chosen(z.optional(accuracy), 'How exactly that is known, metres', { example: 20 }),
          }),
        ),
        'Where the device was; the geofences are checked with it',
      ),
      timestamp: shown(line(40), 'When the device checked, ISO 8601', { example: '2030-01-31T12:00:00Z' }),
      request_id: which,
      org_id: organization,
    }),
    data: z.looseObject(decided),
  },
  validateAuth: {
    method: 'POST',
    path: '/validate/global/auth',
    cli: 'auth validate',
    effect: 'write',
    summary: 'Tell, once, whether the person who was asked has verified',
    message: 'Verified',
    example: '--mobile +12025550101',
    input: z.strictObject({
      mobile: shown(mobile, 'Mobile number with country prefix', {
        example: '+12025550101',
        personal: true,
      }),
      request_id: which,
      org_id: organization,
    }),
    data: z.looseObject({
      ...decided,
      attestation: chosen(attestation, 'The receipt that the phone of the person signed'),
    }),
    folded: ['attestation'],
  },
})
