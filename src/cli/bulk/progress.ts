import { timeLeft } from '../approve/progress.ts'
import type { OutputStream } from '../terminal/io.ts'

/** Milliseconds between two lines. A terminal rewrites its line; a log keeps every line. */
const onTerminal = 200
const inLog = 10_000

/** `12,345`. Not with Intl, which takes Node a tenth of a second to load. */
export const grouped = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3}){1,5}$)/g, ',')

/** `1 user`, `12,345 users`. */
export const quantity = (count: number, { one, many }: { one: string; many: string }): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

export type Progress = { done: number; failed: number; total: number }

/** One line: `1,200 of 10,000 done, 3 failed, 2,900/s, 0:03 left`. `ran`: the rows and seconds of this run. */
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

/** Prints the progress on stderr until `end`. `now` returns milliseconds. */
export const startProgress = (
  stderr: OutputStream,
  read: () => Progress,
  now: () => number = () => performance.now(),
): { end(): void } => {
  const began = { at: now(), done: read().done }
  const line = (): string => {
    const progress = read()
    return progressLine(progress, { rows: progress.done - began.done, seconds: (now() - began.at) / 1000 })
  }
  const print = (): void => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${line().slice(0, Math.max(20, stderr.columns - 1))}`)
    else stderr.write(`${line()}\n`)
  }
  const timer = setInterval(print, stderr.isTTY ? onTerminal : inLog)
  return {
    end: () => {
      clearInterval(timer)
      if (stderr.isTTY) stderr.write('\r\x1b[K')
    },
  }
}

/** The most errors to show. */
const mostLines = 20
/** The most similar errors to show, if there are more errors than that. */
const mostSimilar = 3

type Kind<T> = { first: T[]; count: number }

/**
 * Counts errors and keeps the first of each kind: 5,000 rows without a plus are one mistake. `like` returns the same text
 * for errors of one kind, apart from numbers.
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
        if (kind.first.length < mostSimilar) kind.first.push(item)
      } else if (kinds.size < mostLines) kinds.set(name, { first: [item], count: 1 })
    },
    get count() {
      return count
    },
    /** The errors to show, and how many others are left. `more` follows the last error of each kind. */
    report: (): { shown: { item: T; more: string }[]; left: number } => {
      if (count <= mostLines) return { shown: first.map((item) => ({ item, more: '' })), left: 0 }
      const shown: { item: T; more: string }[] = []
      let left = count
      for (const { first: similar, count: all } of kinds.values()) {
        if (shown.length + similar.length > mostLines) break
        left -= all
        const more = all > similar.length ? ` (and ${grouped(all - similar.length)} more like this)` : ''
        shown.push(...similar.map((item, i) => ({ item, more: i === similar.length - 1 ? more : '' })))
      }
      return { shown, left }
    },
  }
}
