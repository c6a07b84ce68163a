import { DateTime, IANAZone } from 'luxon'
import { safeLine } from '../core/safe-text.ts'
import { weekdays, type Weekday } from '../core/weekdays.ts'

/** `days` are the weekdays it starts on; an `end` before `start` is on the next day. Active unless `is_active` is 0. */
export type Slot = {
  name: string
  days: readonly Weekday[]
  /** HH:MM, the first minute inside. */
  start: string
  /** HH:MM, the first minute outside. */
  end: string
  /** IANA name. */
  timezone: string
  is_active?: 0 | 1
}

/** A slot as a verdict shows it. */
export type NamedSlot = { name: string; days: Weekday[]; start: string; end: string; timezone: string }

type Window = {
  days: ReadonlySet<number>
  start: number
  end: number
  zone: IANAZone
  named: NamedSlot
  text: string
}

/** Local time: minutes since midnight, and the weekday (1-7) of today and yesterday. */
type Reading = { minute: number; today: number; yesterday(): number; text: string }

/** `text` and `local` are for a person: `Office hours (Mon-Fri 09:00-17:30)`, `Mon 08:12 Europe/Berlin`. */
export type SlotReading = { open: boolean; slot: NamedSlot; text: string; local: string }

export type SlotIndex = {
  /** Reads every valid slot at an instant in milliseconds. */
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
  // `local` and `system` would be the zone of this machine.
  const zone = typeof timezone === 'string' ? IANAZone.create(timezone) : undefined
  if (numbers.length === 0 || numbers.includes(0) || !zone?.isValid) return undefined
  // Equal times are ambiguous: a whole day or nothing.
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

// The format of luxon writes the digits of the machine's locale.
const twoDigits = (number: number): string => String(number).padStart(2, '0')

const readClock = (instant: number, zone: IANAZone): Reading => {
  const local = DateTime.fromMillis(instant, { zone })
  return {
    minute: local.hour * 60 + local.minute,
    today: local.weekday,
    // Calendar arithmetic is slow, and few slots need yesterday.
    yesterday: () => {
      const noon = local.set({ hour: 12 })
      const before = noon.minus({ days: 1 })
      // A zone that crosses the date line skips a day; luxon then returns today.
      return (before.hasSame(noon, 'day') ? noon.minus({ days: 2 }) : before).weekday
    },
    text: `${short(local.weekday)} ${twoDigits(local.hour)}:${twoDigits(local.minute)} ${zone.name}`,
  }
}

/**
 * A slot is open while the local clock shows a time inside it. When clocks go forward, a skipped start or end moves to the
 * jump, and a slot that is skipped completely does not open; when they go back, the repeated hour counts twice.
 * spec: not shown
 */
const isOpen = ({ days, start, end }: Window, { minute, today, yesterday }: Reading): boolean =>
  start < end
    ? days.has(today) && minute >= start && minute < end
    : (days.has(today) && minute >= start) || (minute < end && days.has(yesterday()))

/** Undefined if no slot is active. An active slot that is not valid still restricts: it never opens. */
export const compileSlots = (slots: readonly Slot[]): SlotIndex | undefined => {
  const active = slots.filter(({ is_active }) => is_active !== 0)
  if (active.length === 0) return undefined
  const windows = active
    .map(windowOf)
    .filter((window) => window !== undefined)
    .map((window) => ({ window, key: JSON.stringify(window.named) }))
    // Sorted, so that the result does not depend on the order of storage.
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
