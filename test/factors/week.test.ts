import fc from 'fast-check'
import { DateTime, IANAZone } from 'luxon'
import { describe, expect, test } from 'vitest'
import { compileLevel } from '../../src/factors/level.ts'
import type { Slot } from '../../src/factors/slot.ts'
import { weekdays } from '../../src/core/weekdays.ts'
import { checkTime } from '../../src/factors/time.ts'
import { cellsOfDay, noonOf, weekOf, zonedText, type Cell, type Week } from '../../src/factors/week.ts'

const levelsOf = (organization: Slot[], user: Slot[]) => ({
  organization: compileLevel({ fences: [], slots: organization }),
  user: compileLevel({ fences: [], slots: user }),
})
const weekAt = (at: string, zone: string, organization: Slot[], user: Slot[] = []): Week =>
  weekOf(levelsOf(organization, user), [...organization, ...user], Date.parse(at), zone)

const letters: Record<Cell, string> = {
  open: '#',
  partly: '%',
  closed: '.',
  organization: 'o',
  user: 'u',
  none: ' ',
}
const drawn = ({ days }: Week): string[] =>
  days.map(
    ({ date, again, cells }) => `${date}${again ? '+' : ' '}${cells.map((cell) => letters[cell]).join('')}`,
  )

const office: Slot = {
  name: 'Office',
  days: ['mon', 'tue'],
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
}
const nights: Slot = { ...office, name: 'Nights', days: ['sat'], start: '22:00', end: '06:10' }

/** Its clocks changed at one minute past midnight. */
const late: Slot = {
  ...office,
  days: ['sat'],
  start: '23:00',
  end: '23:30',
  timezone: 'America/St_Johns',
}

describe('a week', () => {
  test('starts on Monday in its zone and shows each half hour', () => {
    const week = weekAt('2026-11-22T23:59:00+01:00', 'Europe/Berlin', [office, nights])
    expect(drawn(week)).toEqual([
      '2026-11-16 ..................#################.............',
      '2026-11-17 ..................#################.............',
      '2026-11-18 ................................................',
      '2026-11-19 ................................................',
      '2026-11-20 ................................................',
      '2026-11-21 ............................................####',
      '2026-11-22 ############%...................................',
    ])
  })

  test('omits the hours that clocks skip', () => {
    const week = weekAt('2026-03-29T12:00:00Z', 'Europe/Berlin', [nights])
    expect(drawn(week)[6]).toBe('2026-03-29 ####  ######%...................................')
  })

  test('shows a repeated hour on a line of its own', () => {
    const week = weekAt('2026-10-25T01:30:00Z', 'Europe/Berlin', [{ ...nights, end: '02:15' }])
    expect(drawn(week).slice(6)).toEqual([
      '2026-10-25 ####%...........................................',
      '2026-10-25+    %.                                          ',
    ])
  })

  test('follows clocks that change at any minute', () => {
    // In 2009 they went back from 00:01 to 23:01.
    const { open, days } = weekAt('2009-10-31T12:00:00Z', 'UTC', [late])
    expect(
      open.map(({ from, to }) => [from, to].map((one) => new Date(one).toISOString().slice(5, 16))),
    ).toEqual([
      ['11-01T01:30', '11-01T02:00'],
      ['11-01T02:31', '11-01T03:00'],
    ])
    expect(days[6]!.cells.slice(2, 7)).toEqual(['closed', 'open', 'closed', 'partly', 'closed'])
  })

  test('shows clocks that change at any minute on the right lines', () => {
    const week = weekAt('2009-10-31T12:00:00Z', 'America/St_Johns', [late])
    expect(
      drawn(week)
        .map((line) => [line.slice(0, 11), line.slice(-2), line.slice(11, 13)])
        .slice(5),
    ).toEqual([
      ['2009-10-31 ', '#.', '..'],
      ['2009-10-31+', '#.', '  '],
      ['2009-11-01 ', '..', '..'],
      ['2009-11-01+', '  ', '. '],
    ])
  })

  test('requires both levels, and says which one alone would pass', () => {
    const mornings: Slot = { ...office, start: '07:00', end: '12:00' }
    expect(drawn(weekAt('2026-11-18T00:00:00Z', 'Europe/Berlin', [office], [mornings]))[0]).toBe(
      '2026-11-16 ..............uuuu######ooooooooooo.............',
    )
  })

  test('is open throughout without restrictions', () => {
    expect(weekAt('2026-11-18T00:00:00Z', 'UTC', [{ ...office, is_active: 0 }]).open).toEqual([
      { from: Date.parse('2026-11-16'), to: Date.parse('2026-11-23') },
    ])
  })

  test('never opens through an invalid slot', () => {
    const broken = { ...office, start: 9, timezone: 'Moon/Base' } as unknown as Slot
    expect(weekAt('2026-11-18T00:00:00Z', 'UTC', [broken]).open).toEqual([])
  })
})

const zones =
  'UTC Europe/Berlin America/New_York Australia/Lord_Howe Asia/Kathmandu Pacific/Chatham Pacific/Apia Asia/Beirut America/Havana America/St_Johns'.split(
    ' ',
  )
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
const slot: fc.Arbitrary<Slot> = fc.record({
  name: fc.constant('slot'),
  days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
  start: time,
  end: time,
  timezone: fc.constantFrom(...zones),
  is_active: fc.constantFrom<0 | 1>(0, 1, 1, 1),
})
const slots = fc.array(slot, { maxLength: 3 })
const minute = 60_000
const clock = (one: DateTime): string => one.toFormat('yyyy-MM-dd HH:mm')
// Weeks with a clock change are as frequent as others.
const jumps = [
  '2026-03-08',
  '2026-03-29',
  '2026-04-05',
  '2026-10-25',
  '2026-11-01',
  '2011-12-30',
  '2009-11-01',
].map((day) => Date.parse(`${day}T12:00:00Z`))
const moment = fc.oneof(
  fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2036-01-01') }),
  fc.constantFrom(...jumps),
)

const hours = Array.from({ length: 7 * 24 + 2 }, (_, hour) => hour * 60 * minute)

/** The hours of a week in which the clocks of a zone change. */
const changesOf = (zone: string, monday: number): number[] => {
  const offsets = IANAZone.create(zone)
  return hours
    .map((hour) => monday + hour)
    .filter((one) => offsets.offset(one) !== offsets.offset(one + 60 * minute))
}

test('agrees with svc timeslot check at every boundary and at sampled minutes', () => {
  const agrees: Record<Cell, (passes: boolean) => boolean> = {
    open: (passes) => passes,
    closed: (passes) => !passes,
    organization: (passes) => !passes,
    user: (passes) => !passes,
    partly: () => true,
    none: () => false,
  }
  fc.assert(
    fc.property(
      slots,
      slots,
      fc.constantFrom(...zones),
      moment,
      fc.array(fc.nat(7 * 24 * 60 - 1), { minLength: 20, maxLength: 20 }),
      (organization, user, zone, at, minutes) => {
        const levels = levelsOf(organization, user)
        const all = [...organization, ...user]
        const week = weekOf(levels, all, at, zone)
        const monday = DateTime.fromMillis(at, { zone }).startOf('week').toMillis()
        const sampled = minutes.map((one) => monday + one * minute)
        const edges = week.open.flatMap(({ from, to }) => [from, from - minute, to, to - minute])
        // The start and the end of one slot on one day, whatever the week says about them.
        const times = minutes.slice(0, all.length * 2).flatMap((one, i) => {
          const { start, end, timezone } = all[i % all.length]!
          const date = DateTime.fromMillis(monday + one * minute, { zone: timezone }).toISODate()
          const instants = [start, end].map((time) => DateTime.fromISO(`${date}T${time}`, { zone: timezone }))
          return instants.flatMap((one) => [one.toMillis(), one.toMillis() - minute])
        })
        const changes = [zone, ...all.map(({ timezone }) => timezone)]
          .flatMap((name) => changesOf(name, monday))
          .flatMap((hour) => [-61, -31, -1, 0, 1, 29, 31, 59, 60, 61, 91].map((one) => hour + one * minute))
        for (const instant of new Set([...sampled, ...edges, ...times, ...changes])) {
          const local = DateTime.fromMillis(instant, { zone })
          const again = [30, 60].some((back) => clock(local.minus({ minutes: back })) === clock(local))
          const day = week.days.find((one) => one.date === local.toISODate() && one.again === again)
          const isInside = local.startOf('week').toMillis() === monday
          if (!isInside) continue
          const { result } = checkTime(levels, new Date(instant).toISOString())
          const passes = result === 'PASS' || result === 'NOT_APPLICABLE'
          const cell = day!.cells[Math.floor((local.hour * 60 + local.minute) / 30)]!
          expect(agrees[cell](passes), `${local.toISO()} is ${cell}`).toBe(true)
          expect(week.open.some(({ from, to }) => from <= instant && instant < to)).toBe(passes)
        }
        expect(week.days.every(({ cells }) => cells.length === cellsOfDay)).toBe(true)
      },
    ),
    { numRuns: 25 },
  )
})

test('a date is its noon in the zone, and other text is invalid', () => {
  expect(noonOf('2026-03-29', 'Europe/Berlin')).toBe(Date.parse('2026-03-29T10:00:00Z'))
  expect(noonOf('2026-02-30', 'Europe/Berlin')).toBeUndefined()
  expect(noonOf('29 March', 'Europe/Berlin')).toBeUndefined()
  expect(zonedText(Date.parse('2026-03-29T10:00:00Z'), 'Europe/Berlin')).toBe('2026-03-29T12:00:00+02:00')
})
