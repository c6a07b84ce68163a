import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileLevel } from '../../src/rules/level.ts'
import { weekdays, type Slot } from '../../src/rules/slot.ts'
import { checkTime } from '../../src/rules/time.ts'

const workdays = ['mon', 'tue', 'wed', 'thu', 'fri'] as const
const slot = (change: Partial<Slot> = {}): Slot => ({
  name: 'Office hours',
  days: workdays,
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
  ...change,
})
const level = (...slots: Slot[]) => compileLevel({ fences: [], slots })
const check = (at: unknown, organization: Slot[] = [slot()], user: Slot[] = []) =>
  checkTime({ organization: level(...organization), user: level(...user) }, at)
const open = (at: string, ...slots: Slot[]) => check(at, slots).result === 'PASS'

describe('a time slot', () => {
  test('says where the clock stands when it is outside', () => {
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

  test('is open from its first minute to the one before its end', () => {
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

  test('over midnight belongs to the day it starts on', () => {
    const nights = slot({ name: 'Nights', days: ['fri'], start: '22:00', end: '06:00', timezone: 'UTC' })
    expect(open('2026-03-06T21:59:59Z', nights)).toBe(false)
    expect(open('2026-03-06T22:00:00Z', nights)).toBe(true)
    expect(open('2026-03-07T05:59:59Z', nights)).toBe(true)
    expect(open('2026-03-07T06:00:00Z', nights)).toBe(false)
    expect(open('2026-03-07T22:00:00Z', nights)).toBe(false)
    expect(open('2026-03-06T03:00:00Z', nights)).toBe(false)
  })

  test('on Sunday night reaches into Monday', () => {
    const night = slot({ days: ['sun'], start: '22:00', end: '06:00', timezone: 'UTC' })
    expect(open('2026-03-02T01:00:00Z', night)).toBe(true)
    expect(open('2026-03-01T01:00:00Z', night)).toBe(false)
  })

  test('that ends at midnight ends with its day, and two halves make a whole one', () => {
    const evening = slot({ days: ['mon'], start: '12:00', end: '00:00', timezone: 'UTC' })
    expect(open('2026-03-02T23:59:59Z', evening)).toBe(true)
    expect(open('2026-03-03T00:00:00Z', evening)).toBe(false)
    const morning = slot({ days: ['mon'], start: '00:00', end: '12:00', timezone: 'UTC' })
    for (let hour = 0; hour < 24; hour++)
      expect(open(`2026-03-02T${String(hour).padStart(2, '0')}:30:00Z`, morning, evening)).toBe(true)
  })

  test('is one of several of its level, each by its own clock', () => {
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

  test('of the organization and of the user must both be met', () => {
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
    { timezone: undefined },
    { start: '9:00' },
    { end: '24:00' },
    { start: '10:00', end: '10:00' },
    { days: [] },
    { days: ['mon', 'funday' as never] },
    { days: 'mon' as never },
  ])('that counts but cannot be read never opens: %o', (change) => {
    expect(check('2026-03-02T10:00:00Z', [slot(change)])).toMatchObject({
      result: 'FAIL',
      reason: 'no active time slot can be read',
    })
    expect(check('2026-03-02T10:00:00Z', [slot(change), slot()]).result).toBe('PASS')
  })

  test.each([undefined, null, '', 'now', 0, '2026-03-02', '2026-03-02T10:00:00', '2026-13-02T10:00:00Z', {}])(
    'is not open at a time that cannot be read: %o',
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

// Berlin, Sunday 2026-03-29: 01:59:59 is followed by 03:00:00, at 01:00 UTC.
const berlin = (start: string, end: string) => slot({ days: ['sun'], start, end })
// Apia, 2011-12-29, a Thursday, is followed by Saturday the 31st, at 10:00 UTC on the 30th.
const apia = (day: 'thu' | 'fri') =>
  slot({ days: [day], start: '22:00', end: '06:00', timezone: 'Pacific/Apia' })

describe('where clocks go forward', () => {
  test('a start that is skipped is the moment of the jump', () => {
    expect(open('2026-03-29T00:59:59Z', berlin('02:30', '05:00'))).toBe(false)
    expect(open('2026-03-29T01:00:00Z', berlin('02:30', '05:00'))).toBe(true)
  })

  test('an end that is skipped is the moment of the jump', () => {
    expect(open('2026-03-29T00:59:59Z', berlin('01:00', '02:30'))).toBe(true)
    expect(open('2026-03-29T01:00:00Z', berlin('01:00', '02:30'))).toBe(false)
  })

  test('a slot that is skipped whole does not open', () => {
    for (let minute = 0; minute < 180; minute++)
      expect(open(new Date(Date.UTC(2026, 2, 29, 0, minute)).toISOString(), berlin('02:10', '02:50'))).toBe(
        false,
      )
  })

  test('a midnight that is skipped still begins the day', () => {
    // Beirut, Sunday 2024-03-31: 23:59:59 is followed by 01:00:00, at 22:00 UTC.
    const day = slot({ days: ['sun'], start: '00:00', end: '02:00', timezone: 'Asia/Beirut' })
    expect(open('2024-03-30T21:59:59Z', day)).toBe(false)
    expect(open('2024-03-30T22:00:00Z', day)).toBe(true)
    const night = slot({ days: ['sat'], start: '22:00', end: '02:00', timezone: 'Asia/Beirut' })
    expect(open('2024-03-30T22:30:00Z', night)).toBe(true)
    expect(open('2024-03-30T23:00:00Z', night)).toBe(false)
  })

  test('a day that is skipped starts no night, and the night before it goes on', () => {
    expect(open('2011-12-30T09:59:00Z', apia('thu'))).toBe(true)
    expect(open('2011-12-30T12:00:00Z', apia('thu'))).toBe(true)
    expect(open('2011-12-30T12:00:00Z', apia('fri'))).toBe(false)
    expect(open('2011-12-30T16:00:00Z', apia('thu'))).toBe(false)
  })
})

describe('where clocks go back', () => {
  test('an hour that comes twice counts twice, and what lies between is outside', () => {
    // Berlin, Sunday 2026-10-25: 02:59:59 is followed by 02:00:00, at 01:00 UTC.
    const half = slot({ days: ['sun'], start: '02:00', end: '02:30' })
    expect(open('2026-10-25T00:00:00Z', half)).toBe(true)
    expect(open('2026-10-25T00:30:00Z', half)).toBe(false)
    expect(open('2026-10-25T01:00:00Z', half)).toBe(true)
    expect(open('2026-10-25T01:30:00Z', half)).toBe(false)
  })

  test('a midnight that comes twice begins the same day twice', () => {
    // Havana, Sunday 2026-11-01: 00:59:59 is followed by 00:00:00, at 05:00 UTC.
    const night = slot({ days: ['sat'], start: '23:00', end: '00:30', timezone: 'America/Havana' })
    expect(open('2026-11-01T04:15:00Z', night)).toBe(true)
    expect(open('2026-11-01T04:45:00Z', night)).toBe(false)
    expect(open('2026-11-01T05:15:00Z', night)).toBe(true)
    const wrong = slot({ days: ['sun'], start: '23:00', end: '00:30', timezone: 'America/Havana' })
    expect(open('2026-11-01T05:15:00Z', wrong)).toBe(false)
  })
})

/** The wall clock by the runtime's own calendar, without luxon. */
const wallOf = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (instant: number) => {
    const parts = format.formatToParts(instant)
    const get = (type: string) => parts.find((part) => part.type === type)!.value
    const today = weekdays.indexOf(get('weekday').toLowerCase() as 'mon')
    return { today, clock: `${get('hour')}:${get('minute')}` }
  }
}

const text = (m: number) =>
  `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`

describe('around every change of the clock, the wall clock decides', () => {
  test.each([
    ['Europe/Berlin', 2026, 2],
    ['Europe/Dublin', 2026, 2],
    ['America/New_York', 2026, 2],
    ['America/St_Johns', 2006, 2],
    ['America/Havana', 2024, 2],
    ['Asia/Beirut', 2024, 2],
    ['Asia/Kathmandu', 1986, 1],
    ['Australia/Lord_Howe', 2026, 2],
    ['Pacific/Apia', 2011, 3],
    ['Pacific/Chatham', 2026, 2],
    ['Africa/Casablanca', 2024, 2],
    ['Antarctica/Troll', 2026, 2],
  ])('in %s in %i', (timezone, year, changes) => {
    const hour = 3_600_000
    const wall = wallOf(timezone)
    const from = Date.UTC(year, 0, 1) - 12 * hour
    const dayBefore = (instant: number): number => {
      const { today } = wall(instant)
      let back = instant
      while (wall(back).today === today) back -= hour
      return wall(back).today
    }
    const local = (instant: number) => {
      const { today, clock } = wall(instant)
      return today * 1440 + Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))
    }
    const jumps = Array.from({ length: 366 * 24 }, (_, i) => from + i * hour).filter(
      (instant) => (local(instant + hour) - local(instant) + 10_080) % 10_080 !== 60,
    )
    expect(jumps).toHaveLength(changes)
    const minute = fc.integer({ min: 0, max: 1439 })
    fc.assert(
      fc.property(
        fc.constantFrom(...jumps),
        fc.integer({ min: -300, max: 360 }),
        fc.integer({ min: 0, max: 6 }),
        minute,
        minute,
        (jump, offset, day, start, end) => {
          fc.pre(start < end)
          const instant = jump + offset * 60_000
          const { today, clock } = wall(instant)
          const slots = slot({ days: [weekdays[day]!], start: text(start), end: text(end), timezone })
          const expected = today === day && clock >= text(start) && clock < text(end)
          expect(open(new Date(instant).toISOString(), slots)).toBe(expected)
          const night = slot({ days: [weekdays[day]!], start: text(end), end: text(start), timezone })
          const evening = today === day && clock >= text(end)
          const morning = dayBefore(instant) === day && clock < text(start)
          expect(open(new Date(instant).toISOString(), night)).toBe(evening || morning)
        },
      ),
      { numRuns: 150 },
    )
  })
})
