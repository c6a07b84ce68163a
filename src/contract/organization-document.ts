import * as z from 'zod/mini'
import { mostPeople } from './approvers.ts'
import { chosen, line, optional } from './field.ts'
import { geofence } from './geofence.ts'
import { group } from './group.ts'
import { authCode } from './auth-code.ts'
import { org } from './org.ts'
import { policy } from './policy.ts'
import { ruleShape } from './rule-shape.ts'
import { slug } from './records.ts'
import { timeslot } from './timeslot.ts'
import { user } from './user.ts'

/** Placeholder for a secret that the service stores and a file must not contain. */
export const keptSecret = '(kept)'

const fences = z.partial(z.omit(geofence.createGeofence.input, { org_id: true }), { is_active: true })
const slots = z.omit(timeslot.addTimeslot.input, { org_id: true })
const codes = z.omit(authCode.createAuthCode.input, { org_id: true })
const people = z.omit(user.createUser.input, { orgId: true, country_code: true, mobile: true })
const { geofences: userFences } = geofence.setUserGeofences.input.shape
const { timeslots: userSlots } = timeslot.setUserTimeslots.input.shape

const most = 100_000
const list = <T extends z.ZodMiniType>(row: T) =>
  z.optional(z.array(row).check(z.maxLength(most, 'must have at most 100,000 entries')))

/** An organization as a file describes it. Sections that are left out do not change. spec: not shown */
export const organizationDocument = z.strictObject({
  svc: chosen(z.literal(1, 'must be 1: the version of this format'), 'Version of this format'),
  organization: z.strictObject({
    slug: chosen(slug, 'Slug of the organization; it cannot be changed here', { example: 'acme' }),
    name: chosen(line(120), 'Name', { example: 'Acme Corp' }),
    policy: optional(policy, 'What the organization enforces'),
  }),
  idp: optional(
    z.nullable(
      z.strictObject({
        ...z.omit(org.setIdpCredentials.input, { org_id: true, client_secret: true }).shape,
        client_secret: chosen(
          z.literal(keptSecret, `must be ${keptSecret}: a secret does not belong in this file`),
          'Placeholder; the secret stays in the service',
        ),
      }),
    ),
    'Identity provider; null for none',
  ),
  auth_codes: chosen(
    list(
      z.extend(codes, {
        uses: chosen(codes.shape.uses, 'Number of uses when it is created; not compared later', {
          example: 50,
        }),
      }),
    ),
    'Auth codes, by label; the codes themselves stay in the service',
  ),
  geofences: chosen(list(fences), 'Geofences of the organization, by name'),
  timeslots: chosen(list(slots), 'Time slots of the organization, by name'),
  users: chosen(
    list(
      z.strictObject({
        mobile: chosen(line(32), 'Mobile number, E.164, in quotes', { example: '+12025550101' }),
        ...people.shape,
        state: optional(
          z.enum(['active', 'pending']),
          'active, or pending for a user who is waiting to be accepted',
        ),
        geofences: optional(userFences, 'All geofences of the user'),
        timeslots: optional(userSlots, 'All time slots of the user'),
      }),
    ),
    'Users of the organization, by mobile number',
  ),
  groups: chosen(
    list(
      z.strictObject({
        name: group.createGroup.input.shape.name,
        members: chosen(
          z.array(line(32)).check(z.maxLength(mostPeople, `must name at most ${mostPeople} users`)),
          'Mobile numbers of the members, E.164, in quotes; each needs an active device',
          { example: ['+12025550101'] },
        ),
      }),
    ),
    'Groups of approvers, by name',
  ),
  rules: chosen(list(ruleShape), 'Rules about who must approve what, by name'),
})
export type OrganizationDocument = z.infer<typeof organizationDocument>
