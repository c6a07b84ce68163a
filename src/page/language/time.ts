import { hourForm } from './hours.ts'
import { locale, t } from './text.ts'

// The clock of the phone may be wrong, so the time left is counted from the moment of the answer.

/** A moment on the monotonic clock of the page, `ms` from now. */
export const deadline = (ms: number): number => performance.now() + ms

export const msUntil = (moment: number): number => Math.max(0, moment - performance.now())

const milestones = [60, 30, 10]

/** From here on, a time left is shown as urgent. */
export const urgentMs = 60_000

/** Calls `tick` each second until the end, and `say`, if there is one, at 60, 30 and 10 seconds. Returns a function that stops it. */
export const countDown = (
  moment: number,
  tick: (leftMs: number) => void,
  say?: (text: string) => void,
): (() => void) => {
  let before = Infinity
  let timer = 0
  const step = (): void => {
    const left = msUntil(moment)
    const passed = milestones.find((seconds) => left <= seconds * 1000 && before > seconds * 1000)
    if (passed !== undefined && before !== Infinity)
      say?.(passed === 60 ? t('common.minuteLeft') : t('common.secondsLeft', { count: passed }))
    before = left
    tick(left)
    if (left > 0) timer = setTimeout(step, left % 1000 || 1000)
  }
  step()
  return () => clearTimeout(timer)
}

/** 14:02, in the language of the page and the time zone of the phone. */
export const timeText = (iso: string): string =>
  new Date(iso).toLocaleTimeString(locale(), { timeStyle: 'short' })

/** "at 14:02", or with the date if it was not today. In the language of the page and the time zone of the phone. */
export const momentText = (iso: string, now = new Date()): string => {
  const at = new Date(iso)
  const time = timeText(iso)
  const values = { time, hour: hourForm(time) }
  if (at.toDateString() === now.toDateString()) return t('common.at', values)
  const date = at.toLocaleDateString(locale(), { day: 'numeric', month: 'long', year: 'numeric' })
  return t('common.onDate', { date, ...values })
}

/** Date and time in short, in the language of the page and the time zone of the phone. */
export const dateText = (iso: string): string =>
  new Date(iso).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'short' })

/** The date alone, as its field shows it. */
export const dayText = (iso: string): string =>
  new Date(iso).toLocaleDateString(locale(), { dateStyle: 'medium' })

/** The time, or with the date if it was not today. Beside a label, not in a sentence. */
export const whenText = (iso: string): string =>
  new Date(iso).toDateString() === new Date().toDateString() ? timeText(iso) : dateText(iso)

export type Away = { from: string; until: string }

/** When somebody is away. */
export const awayText = ({ from, until }: Away): string =>
  t('away.interval', { from: dateText(from), until: dateText(until) })
