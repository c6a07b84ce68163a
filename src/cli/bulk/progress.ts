import type { OutputStream } from '../terminal/io.ts'

/** Milliseconds between two lines. A terminal rewrites its line; a log keeps every line. */
const onTerminal = 200
const inLog = 10_000

/** `12,345`. Not with Intl, which takes Node a tenth of a second to load. */
export const grouped = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3}){1,5}$)/g, ',')

/** `1 user`, `12,345 users`. */
export const quantity = (count: number): string => `${grouped(count)} ${count === 1 ? 'user' : 'users'}`

/** Prints the progress on stderr until `end`: `1,200 of 10,000 done, 3 failed`. */
export const startProgress = (
  stderr: OutputStream,
  read: () => { done: number; failed: number; total: number },
): { end(): void } => {
  const print = (): void => {
    const { done, failed, total } = read()
    const line = `${grouped(done)} of ${grouped(total)} done, ${grouped(failed)} failed`
    if (stderr.isTTY) stderr.write(`\r\x1b[K${line.slice(0, Math.max(20, stderr.columns - 1))}`)
    else stderr.write(`${line}\n`)
  }
  const timer = setInterval(print, stderr.isTTY ? onTerminal : inLog)
  return {
    end: () => {
      clearInterval(timer)
      if (stderr.isTTY) stderr.write('\r\x1b[K')
    },
  }
}
