import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { bin } from './processes.ts'
import { machine } from '../machine.ts'

// A pseudo-terminal, made by `script`, which every Debian has. The environment holds only what is given: neither CI nor
// NO_COLOR, as for a person.

export type Size = { rows: number; columns: number }

/** A process whose output can be watched. */
export type Watched = {
  /** The output so far, with escape sequences. */
  written(): string
  /** Resolves with true once `reached` is true, which is checked after each output, or with false if the process ends first. */
  until(reached: () => boolean): Promise<boolean>
  ended: Promise<number | null>
  kill(): void
}

export const watch = (child: ChildProcess): Watched => {
  let written = ''
  let over = false
  const looks = new Set<() => void>()
  const lookAll = (): void => looks.forEach((look) => look())
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text
      lookAll()
    })
  const ended = once(child, 'close').then(([exit]) => {
    over = true
    lookAll()
    return exit as number | null
  })
  return {
    written: () => written,
    ended,
    kill: () => void child.kill(),
    until: (reached) =>
      new Promise((resolve) => {
        const look = (): void => {
          const isReached = reached()
          if (!over && !isReached) return
          looks.delete(look)
          resolve(isReached)
        }
        looks.add(look)
        look()
      }),
  }
}

export type Terminal = Watched & {
  type(keys: string): void
  /** File descriptor 3 of the command. */
  input: Writable
}

/** Runs a shell command on a terminal of this size. */
export const openTerminal = (
  command: string,
  {
    env,
    cwd,
    size,
    log = '/dev/null',
  }: { env: Record<string, string>; cwd?: string; size?: Size | undefined; log?: string | undefined },
): Terminal => {
  const sized = size ? `stty rows ${size.rows} cols ${size.columns}; ` : ''
  const child = spawn('script', ['-qefc', sized + command, log], {
    cwd,
    env: { ...machine, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const input = child.stdio[3] as Writable
  for (const stream of [child.stdin, input]) stream!.on('error', () => undefined)
  return { ...watch(child), type: (keys) => void child.stdin!.write(keys), input }
}

/** Runs one svc command on a terminal, and types each answer, or calls it, when its question appears. */
export const onTerminal = async (
  args: string[],
  env: Record<string, string>,
  answers: [question: RegExp, typed: string | (() => unknown)][],
  size?: Size,
): Promise<{ exit: number | null; screen: string }> => {
  const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
  const terminal = openTerminal(command, { env, size })
  let seen = 0
  for (const [question, typed] of answers) {
    if (!(await terminal.until(() => question.test(terminal.written().slice(seen))))) break
    seen = terminal.written().length
    if (typeof typed === 'string') terminal.type(typed)
    else typed()
  }
  const exit = await terminal.ended
  // oxlint-disable-next-line no-control-regex
  return { exit, screen: terminal.written().replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '') }
}
