import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { patienceMs } from '../patience.mts'
import { agreesLoosely } from './doc-compare.ts'
import type { Step } from './doc-page.ts'
import { loop, openShell, type Seen, type Shell, type Width } from './doc-shell.ts'

// Plays a page as a person would: an empty home folder, a service that is started there, and a shell for each terminal.

export type Shown = Seen & {
  /** Its output at the time when the page continued in another terminal. */
  meanwhile?: string[]
}

/** The address and the home folder that the pages show. */
const docsOrigin = 'http://127.0.0.1:8080'
const docsHome = '/home/you'
const docsMetrics = 'http://127.0.0.1:9464'

const ready = /svc is ready at (http:\/\/[\d.:]+)/
const metricsAt = /Metrics are at (http:\/\/[\d.:]+)/
const isServe = (command: string): boolean => /^svc serve\b/.test(command)
// oxlint-disable-next-line no-control-regex
const plain = (text: string): string => text.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')

const createStage = (home: string, width: Width) => {
  const shells = new Map<string, Shell>()
  let origin = docsOrigin
  let metrics = docsMetrics
  mkdirSync(join(home, 'bin'))
  symlinkSync(bin, join(home, 'bin', 'svc'))
  writeFileSync(join(home, 'bin', 'shell'), loop)

  const shellOf = (name: string): Shell => {
    const shell =
      shells.get(name) ?? openShell(home, width, name === 'service' ? join(home, 'log') : undefined)
    shells.set(name, shell)
    return shell
  }

  /** Starts a command in its terminal. Pages are played in parallel, so each service uses a port of its own. */
  const start = ({ terminal }: Pick<Step, 'terminal'>, command: string) => {
    const shell = shellOf(terminal)
    const own = command
      .replaceAll(docsOrigin, origin)
      .replaceAll(docsMetrics, metrics)
      .replace(/^svc serve\b/, '$& --port 0')
      .replace('--metrics-port 9464', '--metrics-port 0')
    const look = shell.run(own)
    const asInDocs = (line: string): string =>
      line.replaceAll(origin, docsOrigin).replaceAll(metrics, docsMetrics).replaceAll(home, docsHome)
    const seen = async (): Promise<Seen> => {
      const now = await look()
      if (isServe(command)) {
        origin = ready.exec(now.written)?.[1] ?? origin
        metrics = metricsAt.exec(now.written)?.[1] ?? metrics
      }
      return { ...now, lines: now.lines.map(asInDocs) }
    }
    /** Checks after each output, until `enough` returns true or the command ends. */
    const until = async (enough: (seen: Seen) => boolean): Promise<Seen> => {
      for (;;) {
        const before = shell.written().length
        const now = await seen()
        if (now.exit !== undefined || enough(now)) return now
        if (!(await shell.until(() => shell.written().length > before))) return seen()
      }
    }
    return { until, type: (keys: string) => shell.type(keys) }
  }

  const stop = async (): Promise<void> => {
    for (const shell of shells.values()) shell.kill()
    await Promise.all([...shells.values()].map(({ ended }) => ended))
  }
  return { start, stop }
}

/** Whether a running command has printed what the page shows of it so far. */
const hasShown = (step: Step, width: Width, { lines, written }: Seen): boolean => {
  if (isServe(step.command)) return ready.test(written)
  const wanted = step.expected.filter((line) => line.trim() !== '')
  if (width !== undefined) return agreesLoosely(lines.join('\n').trim().split('\n'), wanted)
  // In pipes the output differs: nothing is masked or redrawn.
  return lines.some((line) => line.trim() !== '')
}

/** The output of each step on a terminal of this width. After `limitMs` everything is stopped and reported as it is. */
export const play = async (
  steps: readonly Step[],
  width: Width,
  limitMs = 2 * patienceMs,
): Promise<Shown[]> => {
  const folder = temporaryFolder()
  const stage = createStage(folder.path, width)
  const over = new AbortController()
  const limit = setTimeout(limitMs, undefined, { signal: over.signal }).then(stage.stop, () => undefined)

  const perform = async (step: Step, rest: readonly Step[]): Promise<Shown & { end(): Promise<Shown> }> => {
    const piped = width === undefined ? step.piped : undefined
    const command = stage.start(step, piped ?? step.command)
    let read = 0
    for (const { at, keys } of piped === undefined && width !== undefined ? step.keys : []) {
      const { written } = await command.until((seen) => at.test(plain(seen.written.slice(read))))
      read = written.length
      command.type(keys)
    }
    // Any other command may have shown everything and still be writing a file for the next one.
    const goesOn =
      step.later !== undefined ||
      isServe(step.command) ||
      (rest.length > 0 && rest.every(({ terminal }) => terminal !== step.terminal))
    const seen = await command.until((now) => goesOn && hasShown(step, width, now))
    const meanwhile = seen.exit === undefined ? { meanwhile: seen.lines } : {}
    const end = async (): Promise<Shown> =>
      isServe(step.command)
        ? { ...seen, ...meanwhile }
        : { ...(await command.until(() => false)), ...meanwhile }
    return { ...seen, end }
  }

  try {
    const own = {
      terminal: 'service',
      command: width === undefined ? 'svc serve --dev 2>&1 | tee log' : 'svc serve --dev',
      expected: [],
      keys: [],
      line: 0,
      hidden: true,
    }
    if (!steps.some(({ command }) => isServe(command))) await perform(own, steps)
    const performed = []
    for (const [i, step] of steps.entries()) performed.push(await perform(step, steps.slice(i + 1)))
    const shown = []
    for (const { end } of performed) shown.push(await end())
    return shown
  } finally {
    over.abort()
    await limit
    await stage.stop()
    folder.remove()
  }
}
