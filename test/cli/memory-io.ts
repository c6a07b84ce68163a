import type { Env } from '../../src/core/env.ts'
import type { Io } from '../../src/cli/terminal/io.ts'

export type MemoryIo = Io & { out(): string; err(): string }

export type MemoryOptions = {
  tty?: boolean
  columns?: number | undefined
  env?: Env | undefined
  stdin?: string | Buffer | undefined
  cwd?: string
} & Partial<Pick<Io, 'now' | 'signal' | 'onAnswer'>>

/** An Io in memory; `tty` makes all three streams a terminal of `columns` columns. */
export const memoryIo = (options: MemoryOptions = {}): MemoryIo => {
  const { tty = false, columns = 80, env = {}, stdin = '', cwd = process.cwd(), ...own } = options
  const written = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({
    write: (text: string) => void (written[name] += text),
    isTTY: tty,
    columns,
  })
  return {
    stdin: { isTTY: tty, text: async () => String(stdin), bytes: async () => Buffer.from(stdin) },
    stdout: stream('out'),
    stderr: stream('err'),
    env,
    cwd,
    here: cwd,
    now: () => new Date('2026-01-01T00:00:00.000Z'),
    signal: new AbortController().signal,
    ...own,
    out: () => written.out,
    err: () => written.err,
  }
}
