import * as z from 'zod/mini'
import { chosen, id, line, positive, shown } from './field.ts'
import { operations } from './operation.ts'
import { is_active, org_id, paging, ruling, times, user_id } from './records.ts'

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

const clockTime = z
  .string()
  .check(z.regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00'))

/** `start` after `end` crosses midnight and belongs to the day it starts on. spec: not shown */
export const slot = z.strictObject({
  name: chosen(line(120), 'Name', { example: 'Office hours' }),
  days: chosen(
    z.array(z.enum(weekdays)).check(
      z.minLength(1, 'must name at least one day'),
      z.maxLength(7, 'must name at most seven days'),
      z.refine((days) => new Set(days).size === days.length, 'must name each day once'),
    ),
    'Days on which it starts: mon-fri, mon,wed or daily',
    { example: ['mon', 'tue', 'wed', 'thu', 'fri'] },
  ),
  start: chosen(clockTime, 'Start, HH:MM', { example: '09:00' }),
  end: chosen(clockTime, 'End, HH:MM; before the start, it is on the next day', { example: '17:30' }),
  timezone: chosen(line(64), 'IANA time zone', { example: 'Europe/Berlin' }),
  is_active: chosen(z.optional(is_active), '1 is active, 0 is not; 1 when left out', { example: 1 }),
})

const slotRecord = z.looseObject({
  id: chosen(id, 'Time slot id'),
  org_id: chosen(positive, 'Organization id'),
  ...slot.shape,
  ...times,
})
export const userSlotRecord = z.looseObject(slot.shape)
const timeslot_id = shown(id, 'Time slot id', { example: '4' })
const userOrg = chosen(z.optional(positive), 'Organization id; needed when the user is in several', {
  example: 1,
})
const columns = ['name', 'days', 'start', 'end', 'timezone', 'is_active']

export const timeslot = operations({
  listTimeslots: {
    method: 'GET',
    path: '/organization/{org_id}/timeslots',
    cli: 'timeslot list',
    effect: 'read',
    summary: 'List the time slots of an organization',
    message: 'Time slots',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(slotRecord),
    columns: ['id', ...columns],
  },
  addTimeslot: {
    method: 'POST',
    path: '/organization/{org_id}/timeslots/add',
    cli: 'timeslot create',
    effect: 'write',
    summary: 'Add a time slot to an organization',
    message: 'Time slot added',
    example:
      '--org acme --name "Office hours" --days mon-fri --start 09:00 --end 17:30 --timezone Europe/Berlin',
    input: z.strictObject({ org_id, ...slot.shape }),
    data: slotRecord,
  },
  updateTimeslot: {
    method: 'PUT',
    path: '/timeslot/{timeslot_id}/update',
    cli: 'timeslot update',
    effect: 'write',
    summary: 'Change a time slot of an organization; what is left out stays',
    message: 'Time slot updated',
    example: '4 --end 18:00',
    input: z.strictObject({ timeslot_id, ...z.partial(slot).shape }),
    data: slotRecord,
  },
  deleteTimeslot: {
    method: 'DELETE',
    path: '/timeslot/{timeslot_id}/delete',
    cli: 'timeslot delete',
    effect: 'delete',
    summary: 'Delete a time slot of an organization',
    message: 'Time slot deleted',
    example: '4 --yes',
    input: z.strictObject({ timeslot_id }),
  },
  listUserTimeslots: {
    method: 'GET',
    path: '/user/{userId}/timeslots',
    cli: 'timeslot list',
    select: 'userId',
    effect: 'read',
    summary: 'List the time slots of a user',
    message: 'Time slots of the user',
    example: '--user 7',
    input: z.strictObject({ userId: user_id, org_id: userOrg }),
    data: z.array(userSlotRecord),
    columns,
  },
  setUserTimeslots: {
    method: 'PUT',
    path: '/user/{userId}/timeslots/update',
    cli: 'timeslot set',
    select: 'userId',
    effect: 'write',
    summary: 'Replace all time slots of a user',
    message: 'Time slots of the user replaced',
    example:
      '--user 7 --timeslots \'[{"name":"Nights","days":["mon"],"start":"22:00","end":"06:00","timezone":"Europe/Berlin"}]\'',
    input: z.strictObject({
      userId: user_id,
      org_id: userOrg,
      timeslots: chosen(
        z.array(slot).check(z.maxLength(1000, 'must have at most 1000 entries')),
        'All time slots of the user, as JSON or @file',
        {
          example: [
            { name: 'Nights', days: ['mon'], start: '22:00', end: '06:00', timezone: 'Europe/Berlin' },
          ],
        },
      ),
    }),
    data: z.array(userSlotRecord),
  },
  checkTimeslot: {
    method: 'GET',
    path: '/svc/v1/organizations/{org_id}/timeslot-check',
    cli: 'timeslot check',
    effect: 'read',
    summary: 'Tell whether the time slots would let a moment pass',
    message: 'Checked',
    example: '--org acme --at 2030-01-31T08:30:00+01:00',
    input: z.strictObject({
      org_id,
      user_id: chosen(z.optional(id), 'With the slots of this user too', { example: '7', flag: 'user' }),
      at: chosen(z.optional(line(40)), 'ISO 8601 with its offset; now when left out', {
        example: '2030-01-31T08:30:00+01:00',
      }),
    }),
    data: ruling,
    folded: ['expected', 'observed'],
  },
})
