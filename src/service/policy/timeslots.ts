import type * as z from 'zod/mini'
import type { slot } from '../../contract/timeslot.ts'
import { invalid, notFound } from '../../core/refusal.ts'
import { weekdays } from '../../core/weekdays.ts'
import { isZone, readInstant } from '../../factors/instant.ts'
import { checkTime } from '../../factors/time.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import {
  type Member,
  ofMember,
  organizationOfUser,
  reachOrganization,
  withinOrganization,
} from '../call/tenant.ts'
import type { Tables } from '../storage/schema.ts'
import { keepCheckable } from './checkable-rules.ts'
import { factorsToCheck } from './factor-settings.ts'

type Slot = z.infer<typeof slot>
type SlotColumns = Pick<
  Tables['user_timeslots'],
  'name' | 'days' | 'start' | 'end' | 'timezone' | 'is_active'
>

const fields = ['name', 'days', 'start', 'end', 'timezone', 'is_active'] as const

/** `at` names the slot in a list: `timeslots[2].`. */
const checked = <T extends { [N in keyof Slot]?: Slot[N] | undefined }>(input: T, at = ''): T => {
  if (input.timezone !== undefined && !isZone(input.timezone))
    throw invalid(`${at}timezone`, 'must be an IANA time zone such as Europe/Berlin or UTC')
  // spec: not shown. Equal times could mean a whole day or none of it.
  if (input.start !== undefined && input.start === input.end)
    throw invalid(
      `${at}end`,
      'must differ from start',
      'for a whole day use two slots: 00:00 to 12:00 and 12:00 to 00:00',
    )
  return input
}

const slotColumns = ({ days, is_active, ...rest }: Slot): SlotColumns => ({
  ...rest,
  days: joinDays(days),
  is_active: is_active ?? 1,
})
const joinDays = (days: Slot['days']): string => weekdays.filter((day) => days.includes(day)).join(',')

export const slotRecord = <Row extends { days: string }>(row: Row) => ({
  ...row,
  days: row.days.split(',') as Slot['days'],
})

/** The path names only the slot, so the organization of the caller limits the search. */
const findTimeslot = async ({ db, caller }: Call, id: number) =>
  slotRecord(
    await db
      .selectFrom('timeslots')
      .where('id', '=', id)
      .where(withinOrganization(caller.orgId, 'org_id'))
      .selectAll()
      .executeTakeFirstOrThrow(() => notFound('Time slot')),
  )

const userSlots = async ({ db }: Call, member: Member) => {
  const rows = await db
    .selectFrom('user_timeslots')
    .where(ofMember(member))
    .select(fields)
    .orderBy('id')
    .execute()
  return rows.map(slotRecord)
}

export const listTimeslots: HandlerOf<'listTimeslots'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const query = call.db.selectFrom('timeslots').where('org_id', '=', org_id).selectAll()
  return (await readPage(call, query, 'id')).map(slotRecord)
}

export const addTimeslot: HandlerOf<'addTimeslot'> = async ({ org_id, ...input }, call) => {
  await reachOrganization(call, org_id)
  const added = call.db
    .insertInto('timeslots')
    .values({ ...slotColumns(checked(input)), org_id, created_at: call.now, updated_at: call.now })
    .returningAll()
    .executeTakeFirstOrThrow()
  // Sent together, the insertion first: the quota counts it.
  const [row] = await Promise.all([added, call.claim(org_id, 'timeslots')])
  await call.audit(org_id, `timeslot:${row.id}`)
  return slotRecord(row)
}

export const updateTimeslot: HandlerOf<'updateTimeslot'> = async ({ timeslot_id, ...input }, call) => {
  const present = await findTimeslot(call, timeslot_id)
  const { days, ...changes } = changedFields(checked(input), fields)
  checked({ start: input.start ?? present.start, end: input.end ?? present.end })
  const row = await keepCheckable(call, { org_id: present.org_id, factor: 'time' }, () =>
    call.db
      .updateTable('timeslots')
      .set({ ...changes, ...(days && { days: joinDays(days) }), updated_at: call.now })
      .where('org_id', '=', present.org_id)
      .where('id', '=', timeslot_id)
      .returningAll()
      .executeTakeFirstOrThrow(() => notFound('Time slot')),
  )
  await call.audit(row.org_id, `timeslot:${row.id}`)
  return slotRecord(row)
}

export const deleteTimeslot: HandlerOf<'deleteTimeslot'> = async ({ timeslot_id }, call) => {
  const { org_id } = await findTimeslot(call, timeslot_id)
  await keepCheckable(call, { org_id, factor: 'time' }, () =>
    call.db.deleteFrom('timeslots').where('org_id', '=', org_id).where('id', '=', timeslot_id).execute(),
  )
  await call.audit(org_id, `timeslot:${timeslot_id}`)
}

export const listUserTimeslots: HandlerOf<'listUserTimeslots'> = async ({ userId, org_id }, call) =>
  userSlots(call, { org_id: await organizationOfUser(call, userId, org_id), user_id: userId })

export const setUserTimeslots: HandlerOf<'setUserTimeslots'> = async (
  { userId, org_id, timeslots },
  call,
) => {
  const member = { org_id: await organizationOfUser(call, userId, org_id), user_id: userId }
  const slots = timeslots.map((one, i) =>
    Object.assign(slotColumns(checked(one, `timeslots[${i}].`)), member),
  )
  await keepCheckable(call, { org_id: member.org_id, factor: 'time' }, async () => {
    await call.db.deleteFrom('user_timeslots').where(ofMember(member)).execute()
    if (slots.length > 0) await call.db.insertInto('user_timeslots').values(slots).execute()
  })
  await call.claim(member.org_id, 'timeslots', slots.length)
  await call.audit(member.org_id, `user:${userId}`)
  return userSlots(call, member)
}

export const checkTimeslot: HandlerOf<'checkTimeslot'> = {
  before: async ({ org_id, user_id, at }, outside) => {
    const rules = await factorsToCheck(outside, org_id, user_id)
    if (at !== undefined && readInstant(at) === undefined)
      throw invalid('at', 'must be a time with its offset such as 2030-01-31T08:30:00+01:00')
    return async ({ now }) => ({ factor: 'time', ...checkTime(rules, at ?? now) })
  },
}
