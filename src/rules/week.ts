import { DateTime, IANAZone } from 'luxon'
import { rulesOf, type Levels } from './level.ts'
import type { Slot } from './slot.ts'
import { weekdays } from '../core/weekdays.ts'
import { isZone } from './instant.ts'

// A week of time slots, in cells of half an hour of one time zone. Every cell agrees with `checkTime`.

const minute = 60_000
export const cellMinutes = 30
export const cellsOfDay = (24 * 60) / cellMinutes

/** Which levels are open: `organization` and `user` mean that only this one is. */
type Openness = 'open' | 'closed' | 'organization' | 'user'
/** `partly`: open for a part of the cell. `none`: the clock skips this time. */
export type Cell = Openness | 'partly' | 'none'

/** `again`: the repeated part of a day on which clocks go back. `date`: 2026-03-29. */
export type Day = { date: string; weekday: string; again: boolean; cells: Cell[] }
/** A clock change in local time: `02:00` to `03:00`. */
export type Jump = { date: string; weekday: string; from: string; to: string }
/** Milliseconds since 1970. */
export type Span = { from: number; to: number }
/** The position of a moment: the index of its day in `days`, and its cell. */
export type Mark = { day: number; cell: number; clock: string }

export type Week = { days: Day[]; jumps: Jump[]; open: Span[]; mark: Mark | undefined }

const clock = (local: DateTime): string => local.toFormat('HH:mm', { locale: 'en', numberingSystem: 'latn' })
const named = (local: DateTime) => ({ date: local.toISODate()!, weekday: weekdays[local.weekday - 1]! })

const opennessAt = (levels: Levels, instant: number): Openness => {
  const rules = rulesOf(levels, ({ slots }) => slots)
  const open = rules.filter(({ rule }) => rule.read(instant).some((one) => one.open))
  if (open.length === rules.length) return 'open'
  return open[0] ? (open[0].level as Openness) : 'closed'
}

/** The minutes of a step at which the state can change; reading each of them is enough. */
const momentsOf = (
  slots: readonly Slot[],
  zone: string,
  around: Span,
): { step: number; moments: number[] } => {
  const zones = [...new Set([zone, ...slots.map(({ timezone }) => timezone)])].filter(isZone)
  const offsets = zones.flatMap((name) =>
    [around.from, around.to].map((instant) => IANAZone.create(name).offset(instant)),
  )
  const step = [30, 15, 1].find((one) => offsets.every((offset) => offset % one === 0)) ?? 1
  const changes = slots
    .flatMap(({ start, end }) => [start, end])
    .map((time) => Number(String(time).slice(3)) % step)
  return { step, moments: [...new Set([0, ...changes])].filter(Number.isInteger).sort((a, b) => a - b) }
}

const cellOf = (states: readonly Openness[]): Cell => {
  if (states.length === 0) return 'none'
  if (states.every((one) => one === states[0])) return states[0]!
  return states.includes('open') ? 'partly' : 'closed'
}

type Row = { day: Omit<Day, 'cells'>; states: Openness[][] }

/** The week (from Monday) that contains `instant`, milliseconds. `slots`: all those that `levels` was compiled from. */
export const weekOf = (levels: Levels, slots: readonly Slot[], instant: number, zone: string): Week => {
  const at = DateTime.fromMillis(instant, { zone })
  const monday = at.startOf('week')
  const around = { from: monday.toMillis(), to: monday.plus({ weeks: 1 }).startOf('day').toMillis() }
  const { step, moments } = momentsOf(slots, zone, around)
  const rows = new Map<string, Row>()
  const jumps: Jump[] = []
  const open: Span[] = []
  let latest = -Infinity
  let mark: { key: string; cell: number } | undefined
  let offset = monday.offset

  for (let from = around.from; from < around.to; from += step * minute) {
    const local = DateTime.fromMillis(from, { zone })
    if (local.offset !== offset) {
      const before = DateTime.fromMillis(from + offset * minute, { zone: 'utc' })
      jumps.push({ ...named(before), from: clock(before), to: clock(local) })
      offset = local.offset
    }
    const shown = from + offset * minute
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
    for (const [i, moment] of moments.entries()) {
      const start = from + moment * minute
      const end = from + (moments[i + 1] ?? step) * minute
      const openness = opennessAt(levels, start)
      row.states[cell]!.push(openness)
      if (openness === 'open') extend(open, { from: start, to: end })
    }
    if (instant >= from && instant < from + step * minute) mark = { key, cell }
  }

  const keys = [...rows.keys()].sort()
  const days = keys.map((key) => {
    const { day, states } = rows.get(key)!
    return { ...day, cells: states.map(cellOf) }
  })
  return {
    days,
    jumps,
    open,
    mark: mark && { day: keys.indexOf(mark.key), cell: mark.cell, clock: clock(at) },
  }
}

const extend = (spans: Span[], next: Span): void => {
  const last = spans.at(-1)
  if (last?.to === next.from) last.to = next.to
  else spans.push(next)
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
