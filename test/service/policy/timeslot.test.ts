import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import {
  auditOf,
  contentsOf,
  createMember,
  createTenant,
  dataOf,
  refusal,
  slot,
  refusedWithoutTrace,
} from '../fixtures.ts'

installHooks()

const add = (body: object = {}) =>
  service.call('POST', `/organization/${acme.id}/timeslots/add`, { body: { ...slot, ...body } })
const update = (id: number, body: object, key?: string) =>
  service.call('PUT', `/timeslot/${id}/update`, { body, key })
const list = (query = '') => service.call('GET', `/organization/${acme.id}/timeslots${query}`)

const wrong = [
  [{ timezone: 'Europe/Nowhere' }, 'timezone'],
  [{ timezone: '+01:00' }, 'timezone'],
  [{ start: '9:00' }, 'start'],
  [{ end: '24:00' }, 'end'],
  [{ start: '09:00', end: '09:00' }, 'end'],
  [{ days: [] }, 'days'],
  [{ days: ['mon', 'mon'] }, 'days'],
  [{ days: ['monday'] }, 'days[0]'],
  [{ is_active: 2 }, 'is_active'],
] as const

describe('time slots of an organization', () => {
  test('are added, active by default, with their days in the order of the week', async () => {
    const first = dataOf(await add({ days: ['fri', 'mon', 'wed'] }))
    expect(first).toMatchObject({ ...slot, days: ['mon', 'wed', 'fri'], is_active: 1, org_id: acme.id })
    const second = dataOf(await add({ is_active: 0, start: '22:00', end: '06:00', timezone: 'UTC' }))
    expect(second).toMatchObject({ is_active: 0, start: '22:00', end: '06:00' })
    expect(dataOf(await list())).toEqual([first, second])
    const page = await list('?limit=1')
    expect(dataOf(page)).toEqual([first])
    expect(page.headers.link).toContain('rel="next"')
    expect((await auditOf(service, acme.id)).at(-2)).toEqual([
      'addTimeslot',
      `timeslot:${first.id}`,
      Object.keys(slot),
    ])
  })

  test.each(wrong)('are refused with %j', async (more, field) => {
    expect(await refusedWithoutTrace(service, () => add(more))).toEqual([422, 'invalid_field', [field]])
  })

  test('change only the fields of the request', async () => {
    const made = dataOf(await add())
    const changed = dataOf(await update(made.id, { end: '18:00', days: ['sun', 'sat'], is_active: 0 }))
    expect(changed).toEqual({
      ...made,
      end: '18:00',
      days: ['sat', 'sun'],
      is_active: 0,
      updated_at: changed.updated_at,
    })
    expect(dataOf(await list())).toEqual([changed])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'updateTimeslot',
      `timeslot:${made.id}`,
      ['end', 'days', 'is_active'],
    ])
  })

  test('cannot be brought to start when they end by changing one of the two', async () => {
    const { id } = dataOf(await add())
    const before = await contentsOf(service)
    expect(refusal(await update(id, { end: slot.start }))).toEqual([422, 'invalid_field', ['end']])
    expect(refusal(await update(id, { start: slot.end }))).toEqual([422, 'invalid_field', ['end']])
    expect(refusal(await update(id, {}))).toEqual([422, 'nothing_to_change', []])
    expect(refusal(await update(id, { timezone: 'Mars/Base' }))).toEqual([422, 'invalid_field', ['timezone']])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('are gone when they are deleted', async () => {
    const { id } = dataOf(await add())
    expect((await service.call('DELETE', `/timeslot/${id}/delete`)).status).toBe(200)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['deleteTimeslot', `timeslot:${id}`, []])
    expect(dataOf(await list())).toEqual([])
    expect(refusal(await service.call('DELETE', `/timeslot/${id}/delete`))).toEqual([404, 'not_found', []])
    expect(refusal(await update(id, { end: '18:00' }))).toEqual([404, 'not_found', []])
  })

  test('are found by a key of their own organization only, though their path names none', async () => {
    const other = await createTenant(service, 'other')
    const { id } = dataOf(await add())
    const before = await contentsOf(service)
    expect(refusal(await update(id, { end: '18:00' }, other.key))).toEqual([404, 'not_found', []])
    const removed = await service.call('DELETE', `/timeslot/${id}/delete`, { key: other.key })
    expect(refusal(removed)).toEqual([404, 'not_found', []])
    expect(await contentsOf(service)).toEqual(before)
    expect((await update(id, { end: '18:00' }, acme.key)).status).toBe(200)
  })
})

const set = (userId: number, body: object, key?: string) =>
  service.call('PUT', `/user/${userId}/timeslots/update`, { body, key })

const show = (userId: number, query = '', key?: string) =>
  service.call('GET', `/user/${userId}/timeslots${query}`, { key })

describe('time slots of a user', () => {
  const nights = { ...slot, name: 'Nights', start: '22:00', end: '06:00', is_active: 0 }

  test('are replaced as a whole, in the order of the request', async () => {
    const { id } = await createMember(service, acme.id, 1)
    const both = [nights, { ...slot, is_active: 1 }]
    expect(dataOf(await set(id, { timeslots: [nights, slot] }))).toEqual(both)
    expect(dataOf(await show(id))).toEqual(both)
    expect(dataOf(await set(id, { timeslots: [] }))).toEqual([])
    expect(dataOf(await show(id))).toEqual([])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'setUserTimeslots',
      `user:${id}`,
      ['timeslots'],
    ])
  })

  test.each(wrong)('stay as they were when the second has %j', async (more, field) => {
    const { id } = await createMember(service, acme.id, 1)
    await set(id, { timeslots: [nights] })
    const before = await contentsOf(service)
    const answer = await set(id, { timeslots: [slot, { ...slot, ...more }] })
    expect(refusal(answer)).toEqual([422, 'invalid_field', [`timeslots[1].${field}`]])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('are of one membership, which a key of an organization knows and an operator names', async () => {
    const other = await createTenant(service, 'other')
    const { id } = await createMember(service, acme.id, 1)
    await createMember(service, other.id, 1)
    expect((await set(id, { timeslots: [nights] }, other.key)).status).toBe(200)
    expect(refusal(await show(id))).toEqual([422, 'invalid_field', ['org_id']])
    expect(dataOf(await show(id, `?org_id=${other.id}`))).toEqual([nights])
    expect(dataOf(await show(id, `?org_id=${acme.id}`))).toEqual([])
  })
})

const check = (query = '') => service.call('GET', `/svc/v1/organizations/${acme.id}/timeslot-check${query}`)

describe('a check', () => {
  test('reports the result of the time slots at a moment, and why', async () => {
    expect(dataOf(await check())).toMatchObject({ factor: 'time', result: 'NOT_APPLICABLE' })
    await add()
    // A Thursday; the plus of an offset is %2B in an address.
    expect(dataOf(await check('?at=2030-01-31T09:30:00%2B01:00'))).toMatchObject({
      factor: 'time',
      result: 'PASS',
      reason: 'Thu 09:30 Europe/Berlin is inside Office hours (Mon-Fri 09:00-17:30)',
    })
    expect(dataOf(await check('?at=2030-01-31T17:30:00Z'))).toMatchObject({
      result: 'FAIL',
      reason: 'Thu 18:30 Europe/Berlin is outside Office hours (Mon-Fri 09:00-17:30)',
    })
  })

  test('includes the time slots of the named user', async () => {
    const { id } = await createMember(service, acme.id, 9)
    const timeslots = [{ ...slot, name: 'Nights', start: '22:00', end: '06:00' }]
    dataOf(await service.call('PUT', `/user/${id}/timeslots/update`, { body: { timeslots } }))
    expect(dataOf(await check(`?at=2030-01-31T12:00:00Z&user_id=${id}`)).result).toBe('FAIL')
    expect(dataOf(await check('?at=2030-01-31T12:00:00Z')).result).toBe('NOT_APPLICABLE')
    expect(refusal(await check('?user_id=99'))).toEqual([404, 'not_found', []])
  })

  test.each(['yesterday', '2030-01-31', '2030-01-31T12:00:00', '2030-02-31T12:00:00Z'])(
    'is refused at %s, which is no instant',
    async (at) => {
      expect(refusal(await check(`?at=${at}`))).toEqual([422, 'invalid_field', ['at']])
    },
  )
})
