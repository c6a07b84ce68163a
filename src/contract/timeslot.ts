import * as z from 'zod/mini'
import { weekdays } from '../core/weekdays.ts'
import { chosen, formed, id, line, optional, positive, shown } from './field.ts'
import { operations } from './declaration.ts'
import { is_active, org_id, orgOfUser, paging, ruling, times, user_id } from './records.ts'

const clockTime = formed(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00')

/** A slot whose `start` is after its `end` crosses midnight and belongs to the day it starts on. spec: not shown */
export const slot = z.strictObject({
  name: chosen(line(120), 'Name', { example: 'Office hours' }),
  days: chosen(
    z.array(z.enum(weekdays)).check(
      z.minLength(1, 'must contain at least one day'),
      z.maxLength(7, 'must contain at most seven days'),
      z.refine((days) => new Set(days).size === days.length, 'must contain each day at most once'),
    ),
    'Days on which it starts: mon-fri, mon,wed or daily',
    { example: ['mon', 'tue', 'wed', 'thu', 'fri'] },
  ),
  start: chosen(clockTime, 'Start, HH:MM', { example: '09:00' }),
  end: chosen(clockTime, 'End, HH:MM; if it is before the start, on the next day', { example: '17:30' }),
  timezone: chosen(line(64), 'IANA time zone', { example: 'Europe/Berlin' }),
  is_active: optional(is_active, '1 if active, 0 if not; default: 1', { example: 1 }),
})

const slotRecord = z.looseObject({
  id: chosen(id, 'Time slot id'),
  org_id: chosen(positive, 'Organization id'),
  ...slot.shape,
  ...times,
})
export const userSlotRecord = z.looseObject(slot.shape)
const timeslot_id = shown(id, 'Time slot id', { example: '4' })
const columns = ['name', 'days', 'start', 'end', 'timezone', 'is_active']

export const timeslot = operations({
  listTimeslots: {
    route: 'GET /organization/{org_id}/timeslots',
    cli: 'timeslot list',
    scope: 'read',
    cacheable: true,
    summary: 'List the time slots of an organization',
    message: 'Time slots',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(slotRecord),
    columns: ['id', ...columns],
  },
  addTimeslot: {
    route: 'POST /organization/{org_id}/timeslots/add',
    cli: 'timeslot create',
    scope: 'rules',
    summary: 'Create a time slot in an organization',
    message: 'Time slot created',
    example:
      '--org acme --name "Office hours" --days mon-fri --start 09:00 --end 17:30 --timezone Europe/Berlin',
    input: z.strictObject({ org_id, ...slot.shape }),
    data: slotRecord,
  },
  updateTimeslot: {
    route: 'PUT /timeslot/{timeslot_id}/update',
    cli: 'timeslot update',
    scope: 'rules',
    summary: 'Update a time slot; fields that you leave out do not change',
    message: 'Time slot updated',
    example: '4 --end 18:00',
    input: z.strictObject({ timeslot_id, ...z.partial(slot).shape }),
    data: slotRecord,
  },
  deleteTimeslot: {
    route: 'DELETE /timeslot/{timeslot_id}/delete',
    cli: 'timeslot delete',
    scope: 'rules',
    summary: 'Delete a time slot of an organization',
    message: 'Time slot deleted',
    example: '4 --yes',
    input: z.strictObject({ timeslot_id }),
  },
  listUserTimeslots: {
    route: 'GET /user/{userId}/timeslots',
    cli: 'timeslot list',
    select: 'userId',
    scope: 'read',
    cacheable: true,
    summary: 'List the time slots of a user',
    message: 'Time slots of the user',
    example: '--user 7',
    input: z.strictObject({ userId: user_id, org_id: orgOfUser }),
    data: z.array(userSlotRecord),
    columns,
  },
  setUserTimeslots: {
    route: 'PUT /user/{userId}/timeslots/update',
    cli: 'timeslot set',
    select: 'userId',
    scope: 'rules',
    summary: 'Replace all time slots of a user',
    message: 'Time slots of the user replaced',
    example:
      '--user 7 --timeslots \'[{"name":"Nights","days":["mon"],"start":"22:00","end":"06:00","timezone":"Europe/Berlin"}]\'',
    input: z.strictObject({
      userId: user_id,
      org_id: orgOfUser,
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
    columns,
  },
  checkTimeslot: {
    route: 'GET /svc/v1/organizations/{org_id}/timeslot-check',
    cli: 'timeslot check',
    scope: 'read',
    summary: 'Check whether the time slots allow a moment',
    message: 'Checked',
    example: '--org acme --at 2030-01-31T08:30:00+01:00',
    input: z.strictObject({
      org_id,
      user_id: optional(id, 'User whose time slots apply too', { example: '7', flag: 'user' }),
      at: optional(line(40), 'Time in ISO 8601 with an offset; default: now', {
        example: '2030-01-31T08:30:00+01:00',
      }),
    }),
    data: ruling,
    folded: ['expected', 'observed'],
  },
})
