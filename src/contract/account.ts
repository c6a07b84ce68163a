import * as z from 'zod/mini'
import { chosen, id, line, nullable, optional } from './field.ts'
import { either, phoneProfile, prefix, sending } from './mobile.ts'
import { operations } from './declaration.ts'
import {
  membershipRecord,
  organizationName,
  orgOfKey,
  phoneFields,
  roles,
  states,
  time,
  times,
} from './records.ts'

// The mobile operations for a known person. Bodies and data. spec: not shown

const who = {
  mobile: z.optional(either),
  country_code: prefix,
  user_id: optional(id, 'Or the user id', { example: '7' }),
}

const accountRecord = z.looseObject({
  first_name: chosen(z.string(), 'First name'),
  last_name: chosen(z.string(), 'Last name'),
  email: nullable(z.string(), 'E-mail address', { personal: true }),
  email_verified_at: nullable(time, 'When the address was verified; null if it was not'),
  device_id: nullable(z.string(), 'Id of the phone, as its app reports it'),
  imei: nullable(z.string(), 'IMEI or IMEISV of the phone', { personal: true }),
  platform: nullable(z.string(), 'Platform of the phone'),
  device_name: nullable(z.string(), 'Name of the phone'),
  ...times,
})

const personRecord = z.looseObject({
  user_id: chosen(id, 'User id'),
  ...phoneFields,
  account: nullable(accountRecord, 'Account in the app; null if there is none'),
  organizations: chosen(z.array(membershipRecord), 'Organizations of the user'),
})

const requirements = [
  'confirm_mobile',
  'verify_email',
  'join_organization',
  'await_acceptance',
  'enroll_device',
] as const

export const account = operations({
  getEnrollmentStatus: {
    route: 'POST /enrolstatus',
    cli: 'mobile enroll-status',
    effect: 'read',
    scope: 'app',
    summary: 'Show the enrollment status of a person and the steps that remain',
    message: 'Enrollment status',
    example: '--mobile +12025550101',
    input: z.strictObject(who),
    data: z.looseObject({
      enrolled: chosen(z.boolean(), 'Whether the person can approve: an active member with a device'),
      state: chosen(
        z.enum(['unknown', 'registered', 'confirmed', 'pending', 'member', 'enrolled']),
        'unknown, registered (phone not confirmed), confirmed, pending (waiting to be accepted), member (no device yet), enrolled',
      ),
      requirements: chosen(z.array(z.enum(requirements)), 'Remaining steps, in this order'),
    }),
  },
  isEnrolled: {
    route: 'POST /is_enrolled',
    cli: 'mobile is-enrolled',
    effect: 'read',
    scope: 'app',
    summary: 'Check whether a person can approve; false for an unknown number',
    message: 'Enrollment',
    example: '--mobile +12025550101',
    input: z.strictObject(who),
    data: z.looseObject({ enrolled: chosen(z.boolean(), 'Whether the person can approve') }),
  },
  checkImei: {
    route: 'POST /check-imei',
    cli: 'mobile check-imei',
    args: [],
    effect: 'read',
    scope: 'app',
    summary:
      'Check an IMEI (15 digits with a check digit) or IMEISV (16 digits), and whether it is the phone of a user',
    message: 'IMEI is well formed',
    example: '--imei 35-209900-176148-1 --mobile +12025550101',
    input: z.strictObject({
      imei: chosen(line(40), 'IMEI or IMEISV; spaces, hyphens and slashes are ignored', {
        example: '35-209900-176148-1',
        personal: true,
      }),
      ...who,
    }),
    data: z.looseObject({
      imei: chosen(z.string(), 'Digits only', { personal: true }),
      kind: chosen(z.enum(['imei', 'imeisv']), 'imei or imeisv'),
      tac: chosen(z.string(), 'Type allocation code: the model'),
      known: nullable(z.boolean(), 'Whether it is the phone of that user; null without a user'),
    }),
  },
  assignOrganization: {
    route: 'POST /user/assign-org',
    cli: 'mobile assign-org',
    scope: 'app',
    summary: 'Ask to join the organization of an auth code; an administrator accepts or rejects the request',
    message: 'Waiting to be accepted',
    example: '--mobile +12025550101 --auth-code-file code.txt',
    input: z.strictObject({
      ...who,
      auth_code: chosen(line(60), 'Auth code of the organization', { secret: true }),
    }),
    data: z.looseObject({
      user_id: chosen(id, 'User id'),
      organization: chosen(organizationName, 'The organization'),
      state: chosen(z.enum(states), 'State in the organization'),
    }),
  },
  checkOrganization: {
    route: 'POST /user/check-org-assignment',
    cli: 'mobile check-org',
    effect: 'read',
    scope: 'app',
    summary: 'Check whether a person is a member of an organization, and in which role',
    message: 'Assignment',
    example: '--mobile +12025550101',
    input: z.strictObject({ ...who, org_id: orgOfKey }),
    data: z.looseObject({
      assigned: chosen(z.boolean(), 'Whether the person is an active member'),
      state: nullable(z.enum(states), 'State in the organization; null if the person never asked to join'),
      role: nullable(z.enum(roles), 'Role in the organization'),
      organization: nullable(organizationName, 'The organization'),
    }),
  },
  resendEmailVerification: {
    route: 'POST /resend-email-verification',
    cli: 'mobile resend-email',
    effect: 'notifies',
    scope: 'app',
    summary:
      'Send the e-mail verification link again; it works once, for a day; at most three are sent per hour',
    message: 'Link sent',
    example: '--mobile +12025550101',
    input: z.strictObject(who),
    data: z.looseObject(sending),
  },
  updateProfile: {
    route: 'POST /update-profile',
    cli: 'mobile update-profile',
    scope: 'app',
    updates: true,
    summary:
      'Update the name and contact details of an account; a new e-mail address receives a verification link',
    message: 'Profile updated',
    example: '--mobile +12025550101 --email ada@new.example',
    input: z.strictObject({
      ...who,
      first_name: optional(line(100), 'First name', { example: 'Ada' }),
      last_name: optional(line(100), 'Last name', { example: 'Lovelace' }),
      ...phoneProfile,
    }),
    data: personRecord,
  },
  getMobileUser: {
    route: 'POST /getuser',
    cli: 'mobile get',
    effect: 'read',
    scope: 'app',
    summary: 'Show the account and the memberships of a mobile number',
    message: 'User',
    example: '--mobile +12025550101',
    input: z.strictObject({ mobile: either, country_code: prefix }),
    data: personRecord,
  },
})
