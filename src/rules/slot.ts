import { DateTime, IANAZone } from 'luxon'
import { safeLine } from '../core/safe-text.ts'
import { weekdays, type Weekday } from '../core/weekdays.ts'

/** `days` are the weekdays it starts on; `end` before `start` is on the next day. Counts unless `is_active` is 0. */
export type Slot = {
  name: string
  days: readonly Weekday[]
  /** HH:MM, the first minute of it. */
  start: string
  /** HH:MM, the first minute after it. */
  end: string
  /** IANA name. */
  timezone: string
  is_active?: 0 | 1
}

/** A slot as a verdict names it. */
export type NamedSlot = { name: string; days: Weekday[]; start: string; end: string; timezone: string }

type Window = {
  days: ReadonlySet<number>
  start: number
  end: number
  zone: IANAZone
  named: NamedSlot
  text: string
}

/** What a clock and a calendar on the wall show: minutes since midnight, and today's and yesterday's weekday (1-7). */
type Reading = { minute: number; today: number; yesterday(): number; text: string }

/** `text` and `local` are for a person: `Office hours (Mon-Fri 09:00-17:30)`, `Mon 08:12 Europe/Berlin`. */
export type SlotReading = { open: boolean; slot: NamedSlot; text: string; local: string }

export type SlotIndex = {
  /** Every slot that can be read, at an instant in milliseconds. */
  read: (instant: number) => SlotReading[]
}

const short = (weekday: number): string => {
  const name = weekdays[weekday - 1]!
  return `${name[0]!.toUpperCase()}${name.slice(1)}`
}

const daysText = (days: ReadonlySet<number>): string => {
  const sorted = [...days].sort((a, b) => a - b)
  const [first, last] = [sorted[0]!, sorted.at(-1)!]
  if (sorted.length === 7) return 'daily'
  const run = sorted.length > 2 && last - first === sorted.length - 1
  return run ? `${short(first)}-${short(last)}` : sorted.map(short).join(', ')
}

const minutes = (text: unknown): number | undefined => {
  const match = typeof text === 'string' ? /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) : null
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined
}

const windowOf = ({ name, days, start, end, timezone }: Slot): Window | undefined => {
  const numbers = Array.isArray(days) ? days.map((day) => weekdays.indexOf(day) + 1) : []
  const [from, to] = [minutes(start), minutes(end)]
  // `local` and `system` would be the machine's own zone.
  const zone = typeof timezone === 'string' ? IANAZone.create(timezone) : undefined
  if (numbers.length === 0 || numbers.includes(0) || !zone?.isValid) return undefined
  // Equal times could mean a whole day or none of it.
  if (from === undefined || to === undefined || from === to) return undefined
  const set = new Set(numbers)
  const named = {
    name: safeLine(String(name)),
    days: weekdays.filter((_, i) => set.has(i + 1)),
    start,
    end,
    timezone: zone.name,
  }
  const text = `${named.name} (${daysText(set)} ${start}-${end})`
  return { days: set, start: from, end: to, zone, named, text }
}

// Not luxon's format, which writes the digits of the machine's locale.
const twoDigits = (number: number): string => String(number).padStart(2, '0')

const readClock = (instant: number, zone: IANAZone): Reading => {
  const local = DateTime.fromMillis(instant, { zone })
  return {
    minute: local.hour * 60 + local.minute,
    today: local.weekday,
    // Calendars cost, and few slots are asked for yesterday.
    yesterday: () => {
      const noon = local.set({ hour: 12 })
      const before = noon.minus({ days: 1 })
      // A zone that crosses the date line skips a day: what has no such day comes back as today.
      return (before.hasSame(noon, 'day') ? noon.minus({ days: 2 }) : before).weekday
    },
    text: `${short(local.weekday)} ${twoDigits(local.hour)}:${twoDigits(local.minute)} ${zone.name}`,
  }
}

/**
 * A slot is open while the clock on the wall shows a time of it. So where clocks go forward, a start that is skipped is
 * the moment of the jump, an end that is skipped too, and a slot that is skipped whole does not open that night; where
 * they go back, an hour that comes twice counts twice. spec: not shown
 */
const isOpen = ({ days, start, end }: Window, { minute, today, yesterday }: Reading): boolean =>
  start < end
    ? days.has(today) && minute >= start && minute < end
    : (days.has(today) && minute >= start) || (minute < end && days.has(yesterday()))

/** Undefined when no slot counts. One that counts and cannot be read still restricts: it never opens. */
export const compileSlots = (slots: readonly Slot[]): SlotIndex | undefined => {
  const active = slots.filter(({ is_active }) => is_active !== 0)
  if (active.length === 0) return undefined
  const windows = active
    .map(windowOf)
    .filter((window) => window !== undefined)
    .map((window) => ({ window, key: JSON.stringify(window.named) }))
    // Sorted, so that the order in which they were stored decides nothing.
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ window }) => window)
  return {
    read: (instant) => {
      const clocks = new Map<string, Reading>()
      return windows.map((window) => {
        const { zone, named, text } = window
        const reading = clocks.get(zone.name) ?? readClock(instant, zone)
        clocks.set(zone.name, reading)
        return { open: isOpen(window, reading), slot: named, text, local: reading.text }
      })
    },
  }
}
