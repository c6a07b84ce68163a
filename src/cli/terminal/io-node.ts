import { constants, fstatSync, readFileSync, statSync } from 'node:fs'
import { attempted } from '../../core/attempted.ts'
import { usageError } from '../../core/errors.ts'
import { safeText } from '../../core/safe-text.ts'
import type { Io, OutputStream } from './io.ts'

// Each stream of Node takes a millisecond or two to open, so a command opens only what it uses.
const stream = (open: () => NodeJS.WriteStream, written = (): void => undefined): OutputStream => ({
  write: (text) => {
    open().write(text)
    written()
  },
  get isTTY() {
    return open().isTTY === true
  },
  get columns() {
    // A terminal without a size reports 0.
    return open().columns || 100
  },
})

/** The mask O_ACCMODE, which Node does not export. */
const accessMode = 3

/**
 * Whether standard output was closed: Node then opens /dev/null for reading and writing. A redirection to /dev/null in a
 * shell opens it only for writing.
 */
const isClosed = (): boolean => {
  try {
    if (!fstatSync(1).isCharacterDevice() || fstatSync(1).rdev !== statSync('/dev/null').rdev) return false
    const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync('/proc/self/fdinfo/1', 'utf8')) ?? []
    return (Number.parseInt(flags, 8) & accessMode) === constants.O_RDWR
  } catch {
    // Not on Linux.
    return false
  }
}

/** Opens standard output. If it cannot be written, the run decides how to exit. Listens for errors once. */
const openStdout = (report: (code: string) => Promise<void>): (() => NodeJS.WriteStream) => {
  let open: NodeJS.WriteStream | undefined
  const onError = async ({ code, message }: NodeJS.ErrnoException): Promise<void> => {
    process.stdout.removeListener('error', onError).on('error', ignore)
    await report(code ?? message)
  }
  return () => (open ??= process.stdout.on('error', onError))
}

/** If stderr cannot be written, the exit code still reports the failure. */
const ignore = (): void => undefined
const stderr = (): NodeJS.WriteStream =>
  process.stderr.listeners('error').includes(ignore) ? process.stderr : process.stderr.on('error', ignore)

/** Larger than any valid input, so that an endless pipe does not fill the memory. */
const mostBytes = 64 * 1024 * 1024

const readAll = async (): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw usageError('Standard input is larger than 64 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Milliseconds. One Ctrl-C can arrive twice: from the terminal, and from npm or timeout, which forward it. */
const sameInterrupt = 1_000

/** Runs one command with the streams and signals of this process. A second Ctrl-C ends it immediately. */
export const runOnNode = async (
  argv: string[],
  run: (argv: string[], io: Io) => Promise<number>,
): Promise<number> => {
  // It may have been deleted.
  const cwd = attempted(() => process.cwd())
  if (cwd === undefined) {
    process.stderr.write('svc: the current folder was deleted\nhint: run it in another folder\n')
    return Number(process.exitCode ?? 1)
  }
  const abort = new AbortController()
  let closed: boolean | undefined
  let interruptedAt = 0
  const interrupt = (): void => {
    if (!abort.signal.aborted) {
      interruptedAt = performance.now()
      abort.abort()
    } else if (performance.now() - interruptedAt > sameInterrupt) process.exit(130)
  }
  // An error in a callback of a library must not print a stack either.
  process.on('uncaughtException', (error) => {
    const text = argv.includes('--debug') ? error.stack : error.message
    process.stderr.write(`svc: Something went wrong inside svc: ${safeText(String(text))}\n`)
    process.exit(1)
  })
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  // The terminal was closed: withdraw pending requests too.
  process.on('SIGHUP', () => {
    if (io.onHangup) return io.onHangup()
    interrupt()
    // On exit Node resets the terminal, and dumps core if it is gone. Ending by SIGHUP avoids that.
    process.once('exit', () => process.removeAllListeners('SIGHUP').kill(process.pid, 'SIGHUP'))
  })
  /** Output cannot be written: the run decides whether it goes on. */
  const reportUnwritable = async (code: string): Promise<void> => {
    const exit = await io.onUnwritable?.(code)
    if (exit !== undefined) process.exit(exit)
  }
  const io: Io = {
    stdin: {
      get isTTY() {
        return process.stdin.isTTY === true
      },
      text: async () => (await readAll()).toString('utf8'),
      bytes: readAll,
    },
    stdout: stream(openStdout(reportUnwritable), () => {
      if ((closed ??= isClosed())) void reportUnwritable('EBADF')
    }),
    stderr: stream(stderr),
    env: process.env,
    cwd,
    here: '.',
    now: () => new Date(),
    signal: abort.signal,
  }
  return run(argv, io)
}
