import { DateTime, IANAZone } from 'luxon'
import { rulesOf, type Levels } from './level.ts'
import type { Slot } from './slot.ts'
import { weekdays } from '../core/weekdays.ts'
import { isZone } from './instant.ts'

// A week of time slots, in cells of half an hour of one time zone. Every cell agrees with `checkTime`.

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
export const cellMinutes = 30
export const cellsOfDay = (24 * 60) / cellMinutes

/** Which levels are open: `organization` and `user` mean that only this one is. */
type Openness = 'open' | 'closed' | 'organization' | 'user'
/** `partly`: open for a part of the cell. `none`: the clock skips this time. */
export type Cell = Openness | 'partly' | 'none'

/** `again`: the repeated part of a day on which clocks go back. `date`: 2026-03-29. */
export type Day = { date: string; weekday: string; again: boolean; cells: Cell[] }
/** Milliseconds since 1970. */
export type Span = { from: number; to: number }
type State = Span & { openness: Openness }
export type Week = { days: Day[]; open: Span[] }

const named = (local: DateTime) => ({ date: local.toISODate()!, weekday: weekdays[local.weekday - 1]! })

const opennessAt = (levels: Levels, instant: number): Openness => {
  const rules = rulesOf(levels, ({ slots }) => slots)
  const open = rules.filter(({ rule }) => rule.read(instant).some((one) => one.open))
  if (open.length === rules.length) return 'open'
  return open[0] ? (open[0].level as Openness) : 'closed'
}

/** The offsets of a zone in a span, in milliseconds, and the minutes at which its clocks change. */
const clockChanges = (zone: IANAZone, { from, to }: Span): { offsets: Set<number>; changes: number[] } => {
  const offsetAt = (instant: number): number => zone.offset(instant) * minute
  let offset = offsetAt(from)
  const offsets = new Set([offset])
  const changes: number[] = []
  for (let before = from; before < to; before += hour) {
    const after = offsetAt(before + hour)
    if (after === offset) continue
    let [low, high] = [before, before + hour]
    while (high - low > minute) {
      const middle = low + Math.floor((high - low) / 2 / minute) * minute
      if (offsetAt(middle) === offset) low = middle
      else high = middle
    }
    changes.push(high)
    offsets.add(after)
    offset = after
  }
  return { offsets, changes }
}

const sinceMidnight = (time: unknown): number => {
  const [hours, minutes] = String(time).split(':').map(Number)
  return hours! * hour + minutes! * minute
}

/** The state of every minute in a span, as spans of one state each. */
const statesOf = (levels: Levels, slots: readonly Slot[], { from, to }: Span): State[] => {
  const moments = new Set([from])
  for (const name of new Set(slots.map(({ timezone }) => timezone))) {
    if (!isZone(name)) continue
    const { offsets, changes } = clockChanges(IANAZone.create(name), { from, to })
    for (const change of changes) moments.add(change)
    const times = slots.filter(({ timezone }) => timezone === name).flatMap(({ start, end }) => [start, end])
    // A slot opens and closes only at its times, and when the clocks change.
    for (const time of times.map(sinceMidnight))
      for (let midnight = from - (from % day) - day; midnight < to + day; midnight += day)
        for (const offset of offsets) moments.add(midnight + time - offset)
  }
  const starts = [...moments].filter((one) => one >= from && one < to).sort((a, b) => a - b)
  return starts.map((start, i) => ({
    from: start,
    to: starts[i + 1] ?? to,
    openness: opennessAt(levels, start),
  }))
}

const openSpans = (states: readonly State[]): Span[] => {
  const spans: Span[] = []
  for (const { from, to, openness } of states) {
    if (openness !== 'open') continue
    const last = spans.at(-1)
    if (last?.to === from) last.to = to
    else spans.push({ from, to })
  }
  return spans
}

const cellOf = (states: readonly Openness[]): Cell => {
  if (states.length === 0) return 'none'
  if (states.every((one) => one === states[0])) return states[0]!
  return states.includes('open') ? 'partly' : 'closed'
}

type Row = { day: Omit<Day, 'cells'>; states: Openness[][] }

/** The week (from Monday) that contains `instant`, milliseconds. `slots`: all those that `levels` was compiled from. */
export const weekOf = (levels: Levels, slots: readonly Slot[], instant: number, zone: string): Week => {
  const monday = DateTime.fromMillis(instant, { zone }).startOf('week')
  const end = monday.plus({ weeks: 1 }).startOf('day')
  const around = { from: monday.toMillis(), to: end.toMillis() }
  const { changes } = clockChanges(IANAZone.create(zone), around)
  const isOnGrid = (one: number): boolean =>
    [monday.offset, end.offset].every((offset) => offset % one === 0) &&
    changes.every((change) => (change - around.from) % (one * minute) === 0)
  const step = [30, 15].find(isOnGrid) ?? 1
  const states = statesOf(levels, slots, around)
  const rows = new Map<string, Row>()
  let next = 0
  let latest = -Infinity

  for (let from = around.from; from < around.to; from += step * minute) {
    const local = DateTime.fromMillis(from, { zone })
    const shown = from + local.offset * minute
    const again = shown < latest
    latest = Math.max(latest, shown + step * minute)
    const { date, weekday } = named(local)
    const key = `${date} ${again}`
    const row: Row = rows.get(key) ?? {
      day: { date, weekday, again },
      states: Array.from({ length: cellsOfDay }, () => []),
    }
    rows.set(key, row)
    const cell = Math.floor((local.hour * 60 + local.minute) / cellMinutes)
    const to = from + step * minute
    while (states[next]!.to <= from) next++
    for (let i = next; i < states.length && states[i]!.from < to; i++)
      row.states[cell]!.push(states[i]!.openness)
  }

  const days = [...rows.keys()].sort().map((key): Day => {
    const { day, states } = rows.get(key)!
    return Object.assign({}, day, { cells: states.map(cellOf) })
  })
  return { days, open: openSpans(states) }
}

/** ISO 8601 of an instant on the clocks of a zone, with its offset. */
export const zonedText = (instant: number, zone: string): string =>
  DateTime.fromMillis(instant, { zone }).toISO({ suppressMilliseconds: true })!

/** Noon of a date in a zone; undefined if the date is not valid. */
export const noonOf = (date: string, zone: string): number | undefined => {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined
  const noon = DateTime.fromISO(`${date}T12:00`, { zone })
  return noon.isValid ? noon.toMillis() : undefined
}
