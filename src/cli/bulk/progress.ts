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
