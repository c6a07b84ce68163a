import * as z from 'zod/mini'
import { absence } from './away.ts'
import { pendingRecord } from './page-requests.ts'
import { chosen, id, line, nullable, optional, positive, whole } from './field.ts'
import { operations } from './declaration.ts'
import { authenticators } from './policy.ts'
import { givesChallenge, roles, sentEnrollment, signedChallenge, states, time } from './records.ts'

// Operations of the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown
// The session is an HttpOnly, SameSite cookie of one device. Alone it reads the own inbox; each decision is an assertion.

const token = chosen(line(100), 'Token of the enrollment link', { secret: true })
/** The person and the device that are signed in. */
const sessionRecord = z.looseObject({
  first_name: chosen(z.string(), 'First name of the user'),
  org_id: chosen(positive, 'Organization id'),
  organization: chosen(z.string(), 'Name of the organization'),
  organizations: chosen(
    z.array(positive),
    'Organizations that this browser is signed in to; the header x-svc-organization selects one',
  ),
  role: chosen(z.string(), 'Role in the organization'),
  device_id: chosen(id, 'Device id'),
  device_name: chosen(z.string(), 'Name of the device'),
  only_device: chosen(z.boolean(), 'Whether the person has no other active device'),
  credential_id: chosen(z.string(), 'Id of its credential'),
  rp_id: chosen(z.string(), 'Relying party id'),
  wants_location: chosen(z.boolean(), 'Whether location rules are active, so the page asks for the location'),
  push_key: nullable(z.string(), 'VAPID key for notifications, base64url; null if notifications are off'),
  subscribed: chosen(z.boolean(), 'Whether a phone with this device gets notifications'),
  push_hashes: chosen(
    z.array(z.string()),
    'SHA-256 of the endpoints of these phones, so that each recognizes its own',
  ),
})

const wait = {
  wait_s: optional(whole(1, 30), 'Seconds to wait for a change'),
  seen: optional(line(64), 'The `mark` of what the page shows'),
}

export const shownPerson = z.looseObject({
  user_id: chosen(id, 'User id'),
  first_name: chosen(z.string(), 'First name'),
  last_name: chosen(z.string(), 'Last name'),
  mobile: chosen(z.string(), 'Mobile number, all but the last digits hidden'),
})

/** A member, as the page shows it. */
export const shownMember = z.extend(shownPerson, {
  email: chosen(z.string(), 'E-mail address'),
  role: chosen(z.enum(roles), 'Role in the organization'),
  state: chosen(z.enum(states), 'State'),
  held_at: nullable(time, 'When they were put on hold; null for whoever asked to join'),
  updated_at: chosen(time, 'When the membership was last changed, such as when they asked to join'),
})

/** The changes of a member that an administrator makes on the page, and the command that each equals. */
const commandsOfMoves = {
  accept: 'user pending accept',
  reject: 'user pending reject',
  hold: 'user pending hold',
  promote: 'user make-admin',
  link: 'user enroll',
} as const

/** What an administrator can do with a member on the page. `link` sends one who has no device a link to register one. */
const memberMove = {
  user_id: chosen(id, 'User id'),
  move: chosen(
    z.enum(Object.keys(commandsOfMoves) as (keyof typeof commandsOfMoves)[]),
    'The change to make',
  ),
}

export const page = operations({
  beginEnrollment: {
    route: 'POST /svc/v1/approver/enrollment',
    open: true,
    effect: 'read',
    summary:
      'Get the registration options of a phone with the token of its link; `POST /svc/v1/devices` uses up the token',
    message: 'Enrollment',
    input: z.strictObject({ token }),
    data: z.looseObject({
      first_name: chosen(z.string(), 'First name of the user'),
      organization: chosen(z.string(), 'Name of the organization'),
      user_name: chosen(z.string(), 'Name of the account, as the authenticator shows it'),
      rp_id: chosen(z.string(), 'Relying party id'),
      challenge: chosen(z.string(), 'Challenge that the registration signs, base64url'),
      user_handle: chosen(z.string(), 'User handle that the authenticator stores, base64url'),
      exclude: chosen(z.array(z.string()), 'Ids of credentials that are already registered'),
      device_names: chosen(z.array(z.string()), 'Names of these devices, so that the page suggests another'),
      attestation: chosen(
        z.enum(['none', 'direct']),
        'Whether the registration requests an attestation of the device model',
      ),
      authenticators: chosen(z.array(z.enum(authenticators)), 'Authenticators that the organization accepts'),
      wants_location: sessionRecord.shape.wants_location,
    }),
  },
  beginSession: {
    route: 'POST /svc/v1/approver/challenge',
    open: true,
    effect: 'read',
    summary: 'Get a challenge to reopen the session of a registered device',
    message: 'Challenge',
    data: z.looseObject({
      rp_id: chosen(z.string(), 'Relying party id'),
      challenge: chosen(z.string(), 'Signed by the service and valid for two minutes, base64url'),
    }),
  },
  openSession: {
    route: 'POST /svc/v1/approver/session',
    open: true,
    summary: 'Open a session with an assertion of the device; sets the cookie',
    message: 'Session opened',
    input: z.strictObject({
      ...signedChallenge,
      code: optional(line(10), 'The code that was sent by SMS, if the device requires one', {
        secret: true,
      }),
    }),
    data: sessionRecord,
  },
  getSession: {
    route: 'GET /svc/v1/approver/session',
    cookieAlone: true,
    summary: 'Show who is signed in to the page',
    message: 'Session',
    data: sessionRecord,
  },
  closeSession: {
    route: 'DELETE /svc/v1/approver/session',
    cookieAlone: true,
    effect: 'write',
    summary: 'End the session of this device; it stays registered',
    message: 'Session closed',
  },
  listSessions: {
    route: 'GET /svc/v1/approver/sessions',
    session: true,
    open: true,
    summary:
      'List the sessions of this browser, possibly none, with their pending requests; with wait_s, answer as soon as these differ from `seen`',
    message: 'Sessions',
    input: z.strictObject(wait),
    data: z.looseObject({
      mark: chosen(
        z.string(),
        'Changes with the sessions and the requests, with the devices of the person, with the emergencies that they were told of and, for an administrator, with who waits for them',
      ),
      sessions: chosen(
        z.array(
          z.extend(sessionRecord, {
            requests: chosen(z.array(pendingRecord), 'Pending requests, oldest first'),
            waiting_members: nullable(
              z.int(),
              'Number of members who wait to join; null unless an administrator is signed in',
            ),
            waiting_devices: chosen(z.int(), 'Number of new devices that the person can approve or refuse'),
            waiting_reviews: chosen(
              z.array(z.string()),
              'Requests that broke the glass within a week and that the person can review, newest first',
            ),
            away: absence,
          }),
        ),
        'One for each organization that this browser is signed in to',
      ),
      closed: chosen(
        z.array(
          z.looseObject({
            org_id: sessionRecord.shape.org_id,
            credential_id: sessionRecord.shape.credential_id,
            code: chosen(z.string(), 'Why, as the code of the refusal of a sign-in'),
          }),
        ),
        'Other sessions of this browser, which do not count: of a device or a member that is not active',
      ),
    }),
  },
  listMembers: {
    route: 'GET /svc/v1/approver/members',
    summary: 'List pending or active members for an administrator, at most as many as a phone shows',
    message: 'Members',
    input: z.strictObject({
      state: optional(z.enum(['pending', 'active']), 'Which members; default: pending'),
      find: optional(line(60), 'Part of the name, or the last digits of the mobile number'),
    }),
    data: z.looseObject({
      members: chosen(z.array(shownMember), 'The first members'),
      total: chosen(z.int(), 'Number of members that match'),
    }),
  },
  listOwnGroups: {
    route: 'GET /svc/v1/approver/groups',
    summary: 'List the groups that the signed-in person is in; for an administrator, all of them',
    message: 'Groups',
    data: z.looseObject({
      groups: chosen(
        z.array(
          z.strictObject({
            name: chosen(z.string(), 'Name of the group'),
            members: chosen(
              z.array(
                z.extend(shownPerson, {
                  asleep: chosen(
                    z.boolean(),
                    'Whether the member is not asked: without an active device, or on hold',
                  ),
                }),
              ),
              'Its members',
            ),
          }),
        ),
        'Groups, by name',
      ),
    }),
  },
  beginMemberMove: {
    route: 'POST /svc/v1/approver/members/{user_id}/challenge',
    ...givesChallenge,
    summary: 'Get a challenge that an administrator signs to change a member',
    input: z.strictObject(memberMove),
  },
  moveMember: {
    route: 'POST /svc/v1/approver/members/{user_id}/move',
    equals: commandsOfMoves,
    summary:
      'Accept, reject, hold or promote a member, or send them a link to register a device, signed by an administrator',
    message: 'Member changed',
    input: z.strictObject({
      ...memberMove,
      ...signedChallenge,
    }),
    data: z.extend(shownMember, { enrollment: sentEnrollment }),
  },
})
