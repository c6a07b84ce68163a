import { constants, fstatSync, readFileSync, statSync } from 'node:fs'
import { usageError } from '../../core/errors.ts'
import { safeText } from '../../core/safe-text.ts'
import type { Io, OutputStream } from './io.ts'

// Each of Node's streams costs a millisecond or two when it is first touched: a command opens what it uses.
const stream = (open: () => NodeJS.WriteStream, written = (): void => undefined): OutputStream => ({
  write: (text) => {
    open().write(text)
    written()
  },
  get isTTY() {
    return open().isTTY === true
  },
  get columns() {
    // A terminal that nobody has given a size says 0.
    return open().columns || 100
  },
  get rows() {
    return open().rows || undefined
  },
})

/** Of the flags of an open file; Node does not name it. */
const accessMode = 3

/**
 * Whether nobody can read standard output: Node opens /dev/null for reading and writing where it was closed. A shell that is told
 * to write to /dev/null opens it for writing only.
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

/** Standard output cannot be written: the run says what that means. Each stream is asked for its errors once. */
const openStdout = (io: () => Io): (() => NodeJS.WriteStream) => {
  let open: NodeJS.WriteStream | undefined
  const onError = async ({ code, message }: NodeJS.ErrnoException): Promise<void> => {
    process.stdout.removeListener('error', onError).on('error', ignore)
    const exit = await io().onUnwritable?.(code ?? message)
    if (exit !== undefined) process.exit(exit)
  }
  return () => (open ??= process.stdout.on('error', onError))
}

/** Nobody reads the errors: the exit code still tells. */
const ignore = (): void => undefined
const stderr = (): NodeJS.WriteStream =>
  process.stderr.listeners('error').includes(ignore) ? process.stderr : process.stderr.on('error', ignore)

/** More than any file of ours holds; a pipe that never ends is refused and not read into memory. */
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

/** Milliseconds. One Ctrl-C can arrive twice: from the terminal and from npm or timeout, which pass it on. */
const sameInterrupt = 1_000

/** Runs one command on this process's streams and signals. A second Ctrl-C ends it at once. */
export const runOnNode = (
  argv: string[],
  run: (argv: string[], io: Io) => Promise<number>,
): Promise<number> => {
  const abort = new AbortController()
  let paging = false
  let closed: boolean | undefined
  let interruptedAt = 0
  const interrupt = (): void => {
    // Ctrl-C belongs to the pager while it has the terminal.
    if (paging) return
    if (!abort.signal.aborted) {
      interruptedAt = performance.now()
      abort.abort()
    } else if (performance.now() - interruptedAt > sameInterrupt) process.exit(130)
  }
  // What is thrown where nobody waits for it (a callback of a library) never shows a stack either.
  process.on('uncaughtException', (error) => {
    const say = argv.includes('--debug') ? error.stack : error.message
    process.stderr.write(`svc: Something went wrong inside svc: ${safeText(String(say))}\n`)
    process.exit(1)
  })
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  // The terminal was closed: what waits for a person is withdrawn too.
  process.on('SIGHUP', () => {
    interrupt()
    // At its end Node resets the terminal, and aborts with a core dump when there is none. SIGHUP itself ends it before.
    process.once('exit', () => process.removeAllListeners('SIGHUP').kill(process.pid, 'SIGHUP'))
  })
  /** Says what nobody will read, if that matters. */
  const lose = async (code: string): Promise<void> => {
    const exit = await io.onUnwritable?.(code)
    if (exit) process.exit(exit)
  }
  const io: Io = {
    stdin: {
      get isTTY() {
        return process.stdin.isTTY === true
      },
      text: async () => (await readAll()).toString('utf8'),
      bytes: readAll,
    },
    stdout: stream(
      openStdout(() => io),
      () => {
        if ((closed ??= isClosed())) void lose('EBADF')
      },
    ),
    stderr: stream(stderr),
    env: process.env,
    page: async (text, pager) => {
      const { pageOnNode } = await import('./page-node.ts')
      paging = true
      return pageOnNode(text, pager).finally(() => (paging = false))
    },
    cwd: process.cwd(),
    now: () => new Date(),
    signal: abort.signal,
  }
  return run(argv, io)
}
