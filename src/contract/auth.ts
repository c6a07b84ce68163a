import * as z from 'zod/mini'
import { receipt } from './approval.ts'
import { chosen, id, line, nullable, optional, shown } from './field.ts'
import { operations } from './declaration.ts'
import {
  accuracy,
  country_code,
  factorRuling,
  latitude,
  longitude,
  mobile,
  orgOfKey,
  personal,
  time,
  user_id,
} from './records.ts'

// Verification of a person. spec: of the answers, only status and message are shown

const request_id = chosen(line(64), 'Request id of the verification', { example: 'apr_3mYk8wQZ' })
const user = chosen(id, 'User id of the person')
const which = optional(line(64), 'Request id of the verification; default: the newest', {
  example: 'apr_3mYk8wQZ',
})

/** The result of one rule and its source. */
export const factorResult = z.extend(factorRuling, {
  source: chosen(
    z.enum(['service', 'caller']),
    'Source of the result: the service, or the caller (not verified)',
  ),
})
export type SourcedFactor = z.infer<typeof factorResult>

const verdict = z.enum(['PASS', 'FAIL'])

/** The result of the rules for a verification. */
const decided = {
  user_id: user,
  request_id,
  decision: chosen(verdict, 'The decision, for all factors together'),
  source: chosen(
    z.enum(['service', 'caller']),
    'Source of the result: the signed answer of the person, or the caller (not verified)',
  ),
  factors: chosen(z.array(factorResult), 'The results by factor'),
}

/** A detail of the phone that the app reports; it is not checked. */
const reported = (what: string) => optional(line(100), `${what}; not checked`)

export const auth = operations({
  generateAuthToken: {
    route: 'POST /generate-auth-token',
    cli: 'auth token',
    scope: 'ask',
    summary: 'Start a verification that the caller completes; its token works once, for 10 minutes',
    message: 'Verification started',
    example: '--mobile +12025550101',
    input: z.strictObject({
      user_id: optional(id, 'User id', { example: '7' }),
      mobile: optional(mobile, 'Or the mobile number, E.164', personal.e164),
      org_id: orgOfKey,
    }),
    data: z.looseObject({
      request_id,
      user_id: user,
      auth_token: chosen(z.string(), 'For GET /save/faceauth/success/{auth_token}', { secret: true }),
      expires_at: chosen(time, 'When it expires'),
    }),
  },
  verifyUser: {
    route: 'POST /verify-user',
    cli: 'auth verify-user',
    effect: 'notifies',
    scope: 'ask',
    summary: 'Ask a person to verify their identity on their phone',
    message: 'Prompt sent',
    example: '--country-code +1 --mobile 2025550101',
    input: z.strictObject({
      country_code: shown(country_code, 'Dialing prefix with plus', { example: '+1' }),
      mobile: shown(mobile, 'Mobile number, national', personal.mobile),
      org_id: orgOfKey,
    }),
    data: z.looseObject({
      request_id,
      user_id: user,
      number: nullable(
        z.string(),
        'The number that the person types on the phone, if the policy requires one',
      ),
      expires_at: chosen(time, 'When the prompt expires'),
    }),
  },
  submitAuthResults: {
    route: 'POST /biometric-geo-fence-auth-results',
    cli: 'auth results',
    args: [],
    scope: 'ask',
    summary: 'Submit the results from the device of a person; the rules decide once',
    message: 'Passed',
    example:
      '--user 7 --biometric-result PASS --geo-fence-result PASS --device-id 5 --platform ios --timestamp 2030-01-31T12:00:00Z',
    input: z.strictObject({
      user_id,
      biometric_result: shown(verdict, 'Result of the biometric check', { example: 'PASS' }),
      geo_fence_result: shown(verdict, 'Result of the location check', { example: 'PASS' }),
      device_info: shown(
        z.strictObject({
          device_id: shown(
            line(400),
            'Id of the registered device: as in `svc user devices list`, the id of its credential, or the id that its app registered',
            { example: '5' },
          ),
          platform: shown(line(64), 'Platform of the device', { example: 'ios' }),
          imei: optional(line(40), 'IMEI of the device; must match the one that the user registered', {
            example: '352099001761481',
            personal: true,
          }),
          model: reported('Model'),
          manufacturer: reported('Manufacturer'),
          os: reported('Operating system'),
          os_version: reported('Version of the operating system'),
          app_version: reported('Version of the app'),
        }),
        'The device that was used',
        { example: { device_id: '5', platform: 'ios' } },
      ),
      location: optional(
        z.looseObject({
          latitude: optional(latitude, 'Latitude of the device, degrees (WGS84)', {
            example: 52.52,
          }),
          longitude: optional(longitude, 'Longitude of the device, degrees (WGS84)', {
            example: 13.405,
          }),
          accuracy_m: optional(accuracy, 'Accuracy of the location in metres', {
            example: 20,
            flag: 'accuracy',
          }),
        }),
        'Location of the device; checked against the geofences',
      ),
      timestamp: shown(line(40), 'Time of the check on the device, ISO 8601', {
        example: '2030-01-31T12:00:00Z',
      }),
      request_id: which,
      org_id: orgOfKey,
    }),
    data: z.looseObject(decided),
  },
  validateAuth: {
    route: 'POST /validate/global/auth',
    cli: 'auth validate',
    scope: 'ask',
    summary: 'Check whether the person has verified; an approval is reported once',
    message: 'Verified',
    example: '--mobile +12025550101',
    input: z.strictObject({
      mobile: shown(mobile, 'Mobile number with country prefix', personal.e164),
      request_id: which,
      org_id: orgOfKey,
    }),
    data: z.looseObject({
      ...decided,
      attestation: chosen(receipt, 'The receipt that the phone of the person signed'),
    }),
    folded: ['attestation'],
  },
})
