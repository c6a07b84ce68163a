import { timeLeft } from '../approve/progress.ts'
import type { OutputStream } from '../terminal/io.ts'

/** Milliseconds between two lines: on a terminal one is rewritten, elsewhere each stays in a log. */
const onTerminal = 200
const inLog = 10_000

/** `12,345`. By hand, because Node takes a tenth of a second to load what it knows of languages. */
export const grouped = (count: number): string => {
  const digits = String(count)
  const parts: string[] = []
  for (let end = digits.length; end > 0; end -= 3) parts.unshift(digits.slice(Math.max(0, end - 3), end))
  return parts.join(',')
}

export type Progress = { done: number; failed: number; total: number }

/** One line: `1,200 of 10,000 done, 3 failed, 2,900/s, 0:03 left`. `ran`: how many rows this run did, and in how many seconds. */
export const progressLine = (
  { done, failed, total }: Progress,
  ran: { rows: number; seconds: number },
): string => {
  const rate = ran.seconds > 0 ? ran.rows / ran.seconds : 0
  const parts = [`${grouped(done)} of ${grouped(total)} done`, `${grouped(failed)} failed`]
  if (rate > 0) {
    parts.push(`${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s`)
    parts.push(timeLeft((total - done) / rate))
  }
  return parts.join(', ')
}

/** Tells on stderr how long work goes, until `end`. `now` is in milliseconds. */
export const startProgress = (
  stderr: OutputStream,
  look: () => Progress,
  now: () => number = () => performance.now(),
): { end(): void } => {
  const began = { at: now(), done: look().done }
  const line = (): string => {
    const progress = look()
    return progressLine(progress, { rows: progress.done - began.done, seconds: (now() - began.at) / 1000 })
  }
  const tell = (): void => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${line().slice(0, Math.max(20, stderr.columns - 1))}`)
    else stderr.write(`${line()}\n`)
  }
  const timer = setInterval(tell, stderr.isTTY ? onTerminal : inLog)
  return {
    end: () => {
      clearInterval(timer)
      if (stderr.isTTY) stderr.write('\r\x1b[K')
    },
  }
}

/** As much of a long list of errors as a person reads. */
const mostLines = 20
/** Of errors that are alike, once there are more than that. */
const mostAlike = 3

type Kind<T> = { first: T[]; count: number }

/**
 * Counts errors, and keeps the first of each kind: 5,000 rows without a plus are one mistake. `like` is the same text for
 * errors of one kind, whatever numbers are in it.
 */
export const createTally = <T>(like: (item: T) => string) => {
  const first: T[] = []
  const kinds = new Map<string, Kind<T>>()
  let count = 0
  return {
    add: (item: T): void => {
      count += 1
      if (first.length < mostLines) first.push(item)
      const name = like(item).replace(/\d+/g, '0')
      const kind = kinds.get(name)
      if (kind) {
        kind.count += 1
        if (kind.first.length < mostAlike) kind.first.push(item)
      } else if (kinds.size < mostLines) kinds.set(name, { first: [item], count: 1 })
    },
    get count() {
      return count
    },
    /** What is shown, and how many are neither shown nor alike. `more` stands behind the last of each kind. */
    report: (): { shown: { item: T; more: string }[]; left: number } => {
      if (count <= mostLines) return { shown: first.map((item) => ({ item, more: '' })), left: 0 }
      const shown: { item: T; more: string }[] = []
      let left = count
      for (const { first: alike, count: all } of kinds.values()) {
        if (shown.length + alike.length > mostLines) break
        left -= all
        const more = all > alike.length ? ` (and ${grouped(all - alike.length)} more like this)` : ''
        shown.push(...alike.map((item, i) => ({ item, more: i === alike.length - 1 ? more : '' })))
      }
      return { shown, left }
    },
  }
}
