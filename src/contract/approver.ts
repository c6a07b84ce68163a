import * as z from 'zod/mini'
import { pendingRecord } from './approval.ts'
import { chosen, id, line } from './field.ts'
import { operations } from './operation.ts'
import { sentEnrollment, states, webauthn } from './records.ts'

// What the approver page calls, over /svc/v1/approver. Never typed by a person. spec: not shown
// Its session is an HttpOnly, SameSite cookie of one device and only reads; each decision is an assertion.

/** The name of the cookie. Browsers take the prefix from this very host over https only, so no other host can plant one. */
export const sessionCookie = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-svc-approver' : 'svc-approver'

const token = chosen(line(100), 'Token of the enrollment', { secret: true })
/** Who stands at the page. */
const sessionRecord = z.looseObject({
  first_name: chosen(z.string(), 'First name of the user'),
  organization: chosen(z.string(), 'Name of the organization'),
  role: chosen(z.string(), 'Role of the user there'),
  device_id: chosen(id, 'Device id'),
  device_name: chosen(z.string(), 'Name of the device'),
  credential_id: chosen(z.string(), 'Its credential'),
  rp_id: chosen(z.string(), 'Relying party id'),
  wants_location: chosen(
    z.boolean(),
    'Whether rules about places are active, so that the page asks for the location',
  ),
  push_key: chosen(
    z.nullable(z.string()),
    'VAPID key for notifications, base64url; null where there are none',
  ),
  subscribed: chosen(z.boolean(), 'Whether this device gets notifications'),
})

/** A member as the page shows one. */
export const shownMember = z.looseObject({
  user_id: chosen(id, 'User id'),
  first_name: chosen(z.string(), 'First name'),
  last_name: chosen(z.string(), 'Last name'),
  mobile: chosen(z.string(), 'Mobile number, all but the last digits hidden'),
  state: chosen(z.enum(states), 'State'),
})

/** What an admin can do to a member at the page. */
export const memberMoves = ['accept', 'reject', 'hold', 'promote'] as const

export const approver = operations({
  beginEnrollment: {
    method: 'POST',
    path: '/svc/v1/approver/enrollment',
    cli: 'approver enrollment',
    hidden: true,
    open: true,
    effect: 'read',
    summary:
      'Get what a phone needs to register, with the token of its link; `POST /svc/v1/devices` then uses the token',
    message: 'Enrollment',
    input: z.strictObject({ token }),
    data: z.looseObject({
      first_name: chosen(z.string(), 'First name of the user'),
      organization: chosen(z.string(), 'Name of the organization'),
      user_name: chosen(z.string(), 'Name of the account, as the authenticator shows it'),
      rp_id: chosen(z.string(), 'Relying party id'),
      challenge: chosen(z.string(), 'What the registration signs, base64url'),
      user_handle: chosen(z.string(), 'The user, as the authenticator keeps it, base64url'),
      exclude: chosen(z.array(z.string()), 'Credentials that are registered already'),
      attestation: chosen(
        z.enum(['none', 'direct']),
        'What the registration asks the device to prove of its model',
      ),
      wants_location: sessionRecord.shape.wants_location,
    }),
  },
  verifyEmail: {
    method: 'POST',
    path: '/svc/v1/approver/email-verification',
    cli: 'approver verify-email',
    hidden: true,
    open: true,
    effect: 'write',
    summary: 'Verify an e-mail address with the token of its link; the token works once',
    message: 'E-mail address confirmed',
    input: z.strictObject({ token: chosen(line(100), 'Token of the link', { secret: true }) }),
  },
  beginSession: {
    method: 'POST',
    path: '/svc/v1/approver/challenge',
    cli: 'approver challenge',
    hidden: true,
    open: true,
    effect: 'read',
    summary: 'Get a challenge to reopen the session of a registered device',
    message: 'Challenge',
    input: z.strictObject({}),
    data: z.looseObject({
      rp_id: chosen(z.string(), 'Relying party id'),
      challenge: chosen(z.string(), 'Signed by the service and good for two minutes, base64url'),
    }),
  },
  openSession: {
    method: 'POST',
    path: '/svc/v1/approver/session',
    cli: 'approver session',
    hidden: true,
    open: true,
    effect: 'write',
    summary: 'Open the session of a device with an assertion; sets the cookie',
    message: 'Session opened',
    input: z.strictObject({
      challenge: chosen(line(500), 'The challenge of the service'),
      response: chosen(webauthn, 'AuthenticationResponseJSON of WebAuthn'),
      code: chosen(z.optional(line(10)), 'The code that was sent by SMS, where the device waits for it', {
        secret: true,
      }),
    }),
    data: sessionRecord,
  },
  getSession: {
    method: 'GET',
    path: '/svc/v1/approver/session',
    cli: 'approver whoami',
    hidden: true,
    session: true,
    effect: 'read',
    summary: 'Show who is signed in on the page',
    message: 'Session',
    input: z.strictObject({}),
    data: sessionRecord,
  },
  closeSession: {
    method: 'DELETE',
    path: '/svc/v1/approver/session',
    cli: 'approver leave',
    hidden: true,
    session: true,
    effect: 'write',
    summary: 'End the session of this device; it stays registered',
    message: 'Session closed',
    input: z.strictObject({}),
  },
  listInbox: {
    method: 'GET',
    path: '/svc/v1/approver/requests',
    cli: 'approver requests',
    hidden: true,
    session: true,
    effect: 'read',
    summary:
      'List the requests pending for this approver; with wait_s, answer as soon as the list differs from `seen`',
    message: 'Requests',
    input: z.strictObject({
      wait_s: chosen(
        z.optional(z.int('must be a whole number').check(z.gte(1), z.lte(30))),
        'Wait for a change, seconds',
      ),
      seen: chosen(z.optional(line(64)), 'The `mark` of the list that the page shows'),
    }),
    data: z.looseObject({
      mark: chosen(z.string(), 'Changes with the list'),
      requests: chosen(z.array(pendingRecord), 'Pending requests, oldest first'),
    }),
  },
  subscribePush: {
    method: 'POST',
    path: '/svc/v1/approver/push',
    cli: 'approver push',
    hidden: true,
    session: true,
    effect: 'write',
    summary: 'Turn on notifications on this device',
    message: 'Notifications on',
    input: z.strictObject({
      endpoint: chosen(line(1000), 'PushSubscription endpoint, https'),
      keys: chosen(
        z.strictObject({
          p256dh: chosen(line(200), 'Key of the subscription, base64url'),
          auth: chosen(line(100), 'Secret of the subscription, base64url', { secret: true }),
        }),
        'Keys of the subscription',
      ),
    }),
  },
  listMembers: {
    method: 'GET',
    path: '/svc/v1/approver/members',
    cli: 'approver members',
    hidden: true,
    session: true,
    effect: 'read',
    summary:
      'Who waits to be accepted, or who is active, for an admin of the organization: the first of them',
    message: 'Members',
    input: z.strictObject({
      state: chosen(z.optional(z.enum(['pending', 'active'])), 'Which members; default: pending'),
      find: chosen(z.optional(line(60)), 'Parts of the name, or the last digits of the mobile number'),
    }),
    data: z.looseObject({
      members: chosen(z.array(shownMember), 'As many as a phone shows'),
      total: chosen(z.int(), 'How many there are'),
    }),
  },
  beginMemberMove: {
    method: 'POST',
    path: '/svc/v1/approver/members/{user_id}/challenge',
    cli: 'approver member-challenge',
    hidden: true,
    session: true,
    effect: 'read',
    summary: 'Get a challenge for changing one shownMember, for an admin to sign',
    message: 'Challenge',
    input: z.strictObject({
      user_id: chosen(id, 'User id'),
      move: chosen(z.enum(memberMoves), 'What becomes of the member'),
    }),
    data: z.looseObject({
      challenge: chosen(z.string(), 'Signed by the service, good for two minutes, base64url'),
    }),
  },
  moveMember: {
    method: 'POST',
    path: '/svc/v1/approver/members/{user_id}/move',
    cli: 'approver member-move',
    hidden: true,
    session: true,
    effect: 'write',
    summary: 'Accept, reject or hold a shownMember, signed by an admin',
    message: 'Member moved',
    input: z.strictObject({
      user_id: chosen(id, 'User id'),
      move: chosen(z.enum(memberMoves), 'What becomes of the member'),
      challenge: chosen(line(500), 'The challenge of the service'),
      response: chosen(webauthn, 'AuthenticationResponseJSON of WebAuthn'),
    }),
    data: z.extend(shownMember, { enrollment: sentEnrollment }),
  },
})
