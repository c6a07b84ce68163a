import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Slot } from '../../src/factors/slot.ts'
import { check, open, slot, workdays } from './clock.ts'

describe('a time slot', () => {
  test('names the local time when it is outside', () => {
    expect(check('2026-03-02T07:12:00Z')).toEqual({
      result: 'FAIL',
      reason: 'Mon 08:12 Europe/Berlin is outside Office hours (Mon-Fri 09:00-17:30)',
      expected: {
        organization: [
          {
            name: 'Office hours',
            days: workdays,
            start: '09:00',
            end: '17:30',
            timezone: 'Europe/Berlin',
          },
        ],
      },
      observed: { organization: ['Mon 08:12 Europe/Berlin'] },
    })
  })

  test('is open from its first minute to the last one before its end', () => {
    expect(check('2026-03-02T08:00:00Z')).toMatchObject({
      result: 'PASS',
      reason: 'Mon 09:00 Europe/Berlin is inside Office hours (Mon-Fri 09:00-17:30)',
    })
    expect(open('2026-03-02T07:59:59.999Z', slot())).toBe(false)
    expect(open('2026-03-02T16:29:59.999Z', slot())).toBe(true)
    expect(open('2026-03-02T16:30:00Z', slot())).toBe(false)
  })

  test('is closed on other days', () => {
    expect(check('2026-03-07T10:00:00Z').reason).toBe(
      'Sat 11:00 Europe/Berlin is outside Office hours (Mon-Fri 09:00-17:30)',
    )
  })

  test('across midnight belongs to the day on which it starts', () => {
    const nights = slot({ name: 'Nights', days: ['fri'], start: '22:00', end: '06:00', timezone: 'UTC' })
    expect(open('2026-03-06T21:59:59Z', nights)).toBe(false)
    expect(open('2026-03-06T22:00:00Z', nights)).toBe(true)
    expect(open('2026-03-07T05:59:59Z', nights)).toBe(true)
    expect(open('2026-03-07T06:00:00Z', nights)).toBe(false)
    expect(open('2026-03-07T22:00:00Z', nights)).toBe(false)
    expect(open('2026-03-06T03:00:00Z', nights)).toBe(false)
  })

  test('on Sunday night extends into Monday', () => {
    const night = slot({ days: ['sun'], start: '22:00', end: '06:00', timezone: 'UTC' })
    expect(open('2026-03-02T01:00:00Z', night)).toBe(true)
    expect(open('2026-03-01T01:00:00Z', night)).toBe(false)
  })

  test('that ends at midnight ends with its day, and two halves make a whole day', () => {
    const evening = slot({ days: ['mon'], start: '12:00', end: '00:00', timezone: 'UTC' })
    expect(open('2026-03-02T23:59:59Z', evening)).toBe(true)
    expect(open('2026-03-03T00:00:00Z', evening)).toBe(false)
    const morning = slot({ days: ['mon'], start: '00:00', end: '12:00', timezone: 'UTC' })
    for (let hour = 0; hour < 24; hour++)
      expect(open(`2026-03-02T${String(hour).padStart(2, '0')}:30:00Z`, morning, evening)).toBe(true)
  })

  test('is one of several of its level, each with its own clock', () => {
    const tokyo = slot({ name: 'Tokyo', timezone: 'Asia/Tokyo' })
    expect(check('2026-03-02T01:00:00Z', [slot(), tokyo]).reason).toBe(
      'Mon 10:00 Asia/Tokyo is inside Tokyo (Mon-Fri 09:00-17:30)',
    )
    expect(check('2026-03-02T22:00:00Z', [slot(), tokyo]).reason).toBe(
      'Mon 23:00 Europe/Berlin is outside Office hours (Mon-Fri 09:00-17:30); ' +
        'Tue 07:00 Asia/Tokyo is outside Tokyo (Mon-Fri 09:00-17:30)',
    )
  })

  test('names three of many', () => {
    const many = ['A', 'B', 'C', 'D', 'E'].map((name) => slot({ name, days: ['mon', 'wed'] }))
    expect(check('2026-03-03T09:00:00Z', many).reason).toBe(
      'Tue 10:00 Europe/Berlin is outside A (Mon, Wed 09:00-17:30); ' +
        'Tue 10:00 Europe/Berlin is outside B (Mon, Wed 09:00-17:30); ' +
        'Tue 10:00 Europe/Berlin is outside C (Mon, Wed 09:00-17:30); and outside 2 more',
    )
  })

  test('must match on the organization level and on the user level', () => {
    const mine = slot({ name: 'Mine', start: '14:00', end: '18:00' })
    expect(check('2026-03-02T14:00:00Z', [slot()], [mine]).result).toBe('PASS')
    expect(check('2026-03-02T09:00:00Z', [slot()], [mine])).toMatchObject({
      result: 'FAIL',
      reason: 'Mon 10:00 Europe/Berlin is outside Mine (Mon-Fri 14:00-18:00)',
    })
    expect(check('2026-03-02T16:45:00Z', [slot()], [mine]).result).toBe('FAIL')
    expect(check('2026-03-02T09:00:00Z', [], [mine]).result).toBe('FAIL')
  })

  test('that is inactive restricts nothing', () => {
    expect(check('2026-03-01T03:00:00Z', [slot({ is_active: 0 })])).toMatchObject({
      result: 'NOT_APPLICABLE',
      reason: 'no active time slot',
    })
  })

  test.each<Partial<Slot>>([
    { timezone: 'Europe/Atlantis' },
    { timezone: 'local' },
    { timezone: 'system' },
    { timezone: '' },
    { timezone: undefined as never },
    { start: '9:00' },
    { end: '24:00' },
    { start: '10:00', end: '10:00' },
    { days: [] },
    { days: ['mon', 'funday' as never] },
    { days: 'mon' as never },
  ])('that counts but is invalid never opens: %o', (change) => {
    expect(check('2026-03-02T10:00:00Z', [slot(change)])).toMatchObject({
      result: 'FAIL',
      reason: 'no active time slot can be read',
    })
    expect(check('2026-03-02T10:00:00Z', [slot(change), slot()]).result).toBe('PASS')
  })

  test.each([undefined, null, '', 'now', 0, '2026-03-02', '2026-03-02T10:00:00', '2026-13-02T10:00:00Z', {}])(
    'is not open at an invalid time: %o',
    (at) => {
      expect(check(at)).toMatchObject({ result: 'INSUFFICIENT_DATA' })
    },
  )

  test('does not depend on the order of the slots', () => {
    const slots = ['A', 'B', 'C', 'D', 'E', 'F'].map((name, i) => slot({ name, start: `0${i}:00` }))
    fc.assert(
      fc.property(
        fc.shuffledSubarray(slots, { minLength: 6 }),
        fc.integer({ min: 0, max: 167 }),
        (all, hour) => {
          const at = new Date(Date.UTC(2026, 2, 2, hour)).toISOString()
          expect(check(at, all)).toEqual(check(at, slots))
        },
      ),
    )
  })
})
