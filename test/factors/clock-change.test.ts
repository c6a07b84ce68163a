import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { weekdays } from '../../src/core/weekdays.ts'
import { open, slot } from './clock.ts'

// Berlin, Sunday 2026-03-29: 01:59:59 is followed by 03:00:00, at 01:00 UTC.
const berlin = (start: string, end: string) => slot({ days: ['sun'], start, end })
// Apia, 2011-12-29, a Thursday, is followed by Saturday the 31st, at 10:00 UTC on the 30th.
const apia = (day: 'thu' | 'fri') =>
  slot({ days: [day], start: '22:00', end: '06:00', timezone: 'Pacific/Apia' })

describe('when clocks go forward', () => {
  test('a skipped start is the moment of the change', () => {
    expect(open('2026-03-29T00:59:59Z', berlin('02:30', '05:00'))).toBe(false)
    expect(open('2026-03-29T01:00:00Z', berlin('02:30', '05:00'))).toBe(true)
  })

  test('a skipped end is the moment of the change', () => {
    expect(open('2026-03-29T00:59:59Z', berlin('01:00', '02:30'))).toBe(true)
    expect(open('2026-03-29T01:00:00Z', berlin('01:00', '02:30'))).toBe(false)
  })

  test('a slot that is skipped completely does not open', () => {
    for (let minute = 0; minute < 180; minute++)
      expect(open(new Date(Date.UTC(2026, 2, 29, 0, minute)).toISOString(), berlin('02:10', '02:50'))).toBe(
        false,
      )
  })

  test('a day with a skipped midnight still begins', () => {
    // Beirut, Sunday 2024-03-31: 23:59:59 is followed by 01:00:00, at 22:00 UTC.
    const day = slot({ days: ['sun'], start: '00:00', end: '02:00', timezone: 'Asia/Beirut' })
    expect(open('2024-03-30T21:59:59Z', day)).toBe(false)
    expect(open('2024-03-30T22:00:00Z', day)).toBe(true)
    const night = slot({ days: ['sat'], start: '22:00', end: '02:00', timezone: 'Asia/Beirut' })
    expect(open('2024-03-30T22:30:00Z', night)).toBe(true)
    expect(open('2024-03-30T23:00:00Z', night)).toBe(false)
  })

  test('a skipped day starts no night slot, and the night before continues', () => {
    expect(open('2011-12-30T09:59:00Z', apia('thu'))).toBe(true)
    expect(open('2011-12-30T12:00:00Z', apia('thu'))).toBe(true)
    expect(open('2011-12-30T12:00:00Z', apia('fri'))).toBe(false)
    expect(open('2011-12-30T16:00:00Z', apia('thu'))).toBe(false)
  })
})

describe('when clocks go back', () => {
  test('a repeated hour counts twice, and the time between is outside', () => {
    // Berlin, Sunday 2026-10-25: 02:59:59 is followed by 02:00:00, at 01:00 UTC.
    const half = slot({ days: ['sun'], start: '02:00', end: '02:30' })
    expect(open('2026-10-25T00:00:00Z', half)).toBe(true)
    expect(open('2026-10-25T00:30:00Z', half)).toBe(false)
    expect(open('2026-10-25T01:00:00Z', half)).toBe(true)
    expect(open('2026-10-25T01:30:00Z', half)).toBe(false)
  })

  test('a repeated midnight begins the same day twice', () => {
    // Havana, Sunday 2026-11-01: 00:59:59 is followed by 00:00:00, at 05:00 UTC.
    const night = slot({ days: ['sat'], start: '23:00', end: '00:30', timezone: 'America/Havana' })
    expect(open('2026-11-01T04:15:00Z', night)).toBe(true)
    expect(open('2026-11-01T04:45:00Z', night)).toBe(false)
    expect(open('2026-11-01T05:15:00Z', night)).toBe(true)
    const wrong = slot({ days: ['sun'], start: '23:00', end: '00:30', timezone: 'America/Havana' })
    expect(open('2026-11-01T05:15:00Z', wrong)).toBe(false)
  })
})

/** The wall clock by the calendar of the runtime, without luxon. */
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

describe('around every clock change, the wall clock decides', () => {
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
