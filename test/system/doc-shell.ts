import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { createScreen } from '../e2e/screen.ts'
import { openTerminal, watch, type Terminal } from '../e2e/terminal.ts'

/** Columns of a terminal, or undefined for pipes without a terminal. */
export type Width = number | undefined

/** Runs commands one after another as they are read from descriptor 3. Ctrl-C ends the command, not the shell. */
export const loop = [
  'trap : INT',
  'step=0',
  `while IFS= read -r -d '' -u 3 command; do`,
  String.raw`  printf '\n@@begin %s@@\n' $step`,
  '  eval "$command" 3<&-',
  String.raw`  printf '\n@@end %s %s@@\n' $step $?`,
  '  step=$((step + 1))',
  'done',
].join('\n')

/** The output of one command, so far or complete. */
export type Seen = { lines: string[]; exit: number | undefined; written: string }

export type Shell = Pick<Terminal, 'type' | 'until' | 'written' | 'kill' | 'ended'> & {
  /** Types a command, and returns a function that reads its output. */
  run(command: string): () => Promise<Seen>
}

const noTerminal = (): never => {
  throw new Error('There is no terminal to type on')
}

const open = (home: string, width: Width, log: string | undefined): Terminal => {
  const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env['PATH']}` }
  const script = join(home, 'bin', 'shell')
  // More rows than any page has, so that nothing is paged.
  if (width !== undefined)
    return openTerminal(`exec bash --noprofile --norc ${script}`, {
      env,
      cwd: home,
      size: { rows: 1000, columns: width },
      log,
    })
  const child = spawn('bash', ['--noprofile', '--norc', script], {
    cwd: home,
    env: { ...env, TERM: 'xterm-256color' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A process group of its own, so that everything it started can be ended. A terminal does that by hanging up.
    detached: true,
  })
  const watched = watch(child)
  let over = false
  void watched.ended.then(() => (over = true))
  const kill = (): void => {
    if (!over && child.exitCode === null && child.signalCode === null) process.kill(-child.pid!)
  }
  return { ...watched, kill, type: noTerminal, input: child.stdio[3] as Writable }
}

/** A shell in this home folder that runs `loop`, stored there as `bin/shell`. */
export const openShell = (home: string, width: Width, log?: string): Shell => {
  const terminal = open(home, width, log)
  const screen = width === undefined ? undefined : createScreen(width)
  let drawn = 0
  /** Everything so far, as it is on the screen. Only what is new is drawn. */
  const linesOf = async (written: string): Promise<string[]> => {
    if (!screen) return written.split('\n')
    const fresh = written.slice(drawn)
    drawn = written.length
    await screen.write(fresh)
    return screen.lines()
  }
  let typed = 0
  return {
    ...terminal,
    run: (command) => {
      const n = typed++
      terminal.input.write(`${command}\0`)
      return async () => {
        const written = terminal.written()
        const all = await linesOf(written)
        const begin = all.indexOf(`@@begin ${n}@@`)
        const end = all.findIndex((line) => line.startsWith(`@@end ${n} `))
        const exit = end === -1 ? undefined : Number(all[end]!.split(' ')[2]!.replace('@@', ''))
        return {
          lines: begin === -1 ? [] : all.slice(begin + 1, end === -1 ? undefined : end),
          exit,
          written: written.slice(Math.max(0, written.indexOf(`@@begin ${n}@@`))),
        }
      }
    },
  }
}
