import * as z from 'zod/mini'
import { interval } from './away.ts'
import { chosen, id, line, optional, positive, shown } from './field.ts'
import { userFenceRecord } from './geofence.ts'
import { operations } from './declaration.ts'
import {
  country_code,
  email,
  membershipRecord,
  mobile,
  org_id,
  orgOfKey,
  paging,
  personal,
  roles,
  states,
  user_id,
  userRecord,
} from './records.ts'
import { userSlotRecord } from './timeslot.ts'

const profile = {
  email: shown(email, 'E-mail address', personal.email),
  country_code: shown(country_code, 'Dialing prefix with plus', { example: '+1' }),
  mobile: shown(mobile, 'Mobile number, national', personal.mobile),
  first_name: shown(line(100), 'First name', { example: 'Ada' }),
  last_name: shown(line(100), 'Last name', { example: 'Lovelace' }),
}
const roleField = (text: string) => optional(z.enum(roles), text, { example: 'member' })

const bodyOrg = chosen(positive, 'Organization id', { example: 1 })
const bodyUser = chosen(id, 'User id', { example: '7' })
const e164 = optional(mobile, 'Mobile number, E.164', personal.e164)
const address = optional(email, 'E-mail address', personal.email)
export const userColumns = ['id', 'first_name', 'last_name', 'mobile_e164', 'email', 'role', 'state']

export const user = operations({
  listUsers: {
    route: 'GET /organization/{org_id}/users',
    cli: 'user list',
    scope: 'read',
    cacheable: true,
    summary: 'List the users of an organization',
    message: 'Users',
    example: '--org acme --state active',
    input: z.strictObject({
      org_id,
      state: optional(z.enum(states), 'Only users in this state', { example: 'active' }),
      mobile: e164,
      email: address,
      ...paging,
    }),
    data: z.array(userRecord),
    columns: userColumns,
  },
  getUser: {
    route: 'GET /organization/{orgId}/user/{userId}',
    cli: 'user get',
    scope: 'read',
    summary: 'Show one user of an organization',
    message: 'User',
    example: '7 --org acme',
    input: z.strictObject({ orgId: org_id, userId: user_id }),
    data: z.extend(userRecord, {
      away: optional(interval, 'When the user is away; absent if they are not'),
    }),
  },
  createUser: {
    route: 'POST /organization/{orgId}/create/user',
    cli: 'user create',
    scope: 'people',
    summary: 'Create a user in an organization',
    message: 'User created',
    example:
      '--org acme --first-name Ada --last-name Lovelace --email ada@acme.example --country-code +1 --mobile 2025550101',
    input: z.strictObject({ orgId: org_id, ...profile, role: roleField('Role; default: member') }),
    data: userRecord,
  },
  updateUser: {
    route: 'PUT /organization/{orgId}/update/user/{userId}',
    cli: 'user update',
    decidesWith: { role: ['operator', 'admin'] },
    scope: 'people',
    summary: 'Update the profile or role of a user; the mobile number cannot be changed',
    message: 'User updated',
    example: '7 --org acme --email ada@new.example',
    input: z.strictObject({
      orgId: org_id,
      userId: user_id,
      email: optional(email, 'E-mail address', { example: 'ada@new.example', personal: true }),
      country_code: optional(country_code, 'Dialing prefix with plus; it cannot be changed', {
        example: '+1',
      }),
      mobile: optional(mobile, 'Mobile number; it cannot be changed', personal.mobile),
      first_name: optional(line(100), 'First name', { example: 'Ada' }),
      last_name: optional(line(100), 'Last name', { example: 'Lovelace' }),
      role: roleField('Role in the organization'),
    }),
    data: userRecord,
  },
  deleteUser: {
    route: 'DELETE /organization/{orgId}/delete/user/{userId}',
    cli: 'user delete',
    scope: 'people',
    summary: 'Delete a user and all their data in an organization',
    message: 'User deleted',
    example: '7 --org acme --yes',
    input: z.strictObject({ orgId: org_id, userId: user_id }),
  },
  removeUser: {
    route: 'POST /organization/remove/user',
    cli: 'user remove',
    effect: 'decides',
    args: ['user_id'],
    scope: 'people',
    summary: 'Remove a user from an organization; the history is kept',
    message: 'User removed',
    example: '7 --org acme --yes',
    input: z.strictObject({ org_id: bodyOrg, user_id: bodyUser }),
    data: userRecord,
  },
  getUserDetails: {
    route: 'POST /organization/user/details',
    cli: 'user details',
    effect: 'read',
    scope: 'read',
    summary: 'Find one user of an organization by id, mobile number or e-mail address',
    message: 'User details',
    example: '--org acme --mobile +12025550101',
    input: z.strictObject({ org_id: orgOfKey, user_id: z.optional(bodyUser), mobile: e164, email: address }),
    data: userRecord,
  },
  getUserOrganization: {
    route: 'GET /user/{user_id}/organizations/{org_code}',
    cli: 'user org',
    scope: 'read',
    cacheable: true,
    summary: 'Show a user as a member of the organization with this slug',
    message: 'User in organization',
    example: '7 acme',
    input: z.strictObject({
      user_id,
      org_code: shown(line(60), 'Slug of the organization', { example: 'acme' }),
    }),
    data: userRecord,
  },
  listUserOrganizations: {
    route: 'POST /organization/user/getOrganizations',
    cli: 'user orgs',
    effect: 'read',
    scope: 'read',
    summary: 'List the organizations of a user',
    message: 'Organizations of the user',
    example: '--user 7',
    input: z.strictObject({ user_id: z.optional(bodyUser), mobile: e164 }),
    data: z.array(membershipRecord),
    columns: ['id', 'slug', 'name', 'role', 'state'],
  },
  makeAdmin: {
    route: 'POST /make-admin',
    cli: 'user make-admin',
    effect: 'decides',
    args: ['user_id'],
    scope: 'people',
    summary: 'Make an active user an administrator of the organization',
    message: 'User is now an administrator',
    example: '7 --org acme --yes',
    input: z.strictObject({ org_id: bodyOrg, user_id: bodyUser }),
    data: userRecord,
  },
  listUserRules: {
    route: 'GET /svc/v1/organizations/{org_id}/user-rules',
    cli: 'user rules',
    scope: 'read',
    cacheable: true,
    summary: 'List the geofences and time slots of users',
    message: 'Rules of users',
    example: '--org acme -o json',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(
      z.looseObject({
        user_id: bodyUser,
        geofences: chosen(z.array(userFenceRecord), 'Geofences of the user'),
        timeslots: chosen(z.array(userSlotRecord), 'Time slots of the user'),
      }),
    ),
    columns: ['user_id', 'geofences', 'timeslots'],
  },
})
