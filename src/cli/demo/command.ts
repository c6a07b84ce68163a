import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interrupted, SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { defineCommand, type RunLine } from '../program/define-command.ts'
import type { Io } from '../terminal/io.ts'
import { steps, type Request, type Step } from './steps.ts'

/** Streams that pass what is written to `write`, as on a terminal. */
const capture = (io: Io, write: (text: string) => void): Pick<Io, 'stdin' | 'stdout' | 'stderr'> => {
  // Otherwise the output would contain every version of a progress line.
  const whole = (text: string): void => void (text.startsWith('\r') || write(text))
  const sink = { write: whole, isTTY: true, columns: Math.min(io.stdout.columns, 110) }
  return {
    stdin: { isTTY: false, text: async () => '', bytes: async () => Buffer.alloc(0) },
    stdout: sink,
    stderr: sink,
  }
}

type Values = Map<string, string>

const wordsOf = (line: string, values: Values): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) =>
    quoted === undefined && word.startsWith('$') ? values.get(word.slice(1))! : (quoted ?? word),
  )

const valueAt = (answer: unknown, path: string): string =>
  String(path.split('.').reduce((inner, name) => (isRecord(inner) ? inner[name] : undefined), answer))

const isPending = (answer: unknown): boolean =>
  isRecord(answer) && typeof answer.request_id === 'string' && answer.status === 'pending'

type Ended = { exit: number; output: string }

/** Runs a step with the values of earlier steps, and adds its own. Throws if it did not end as expected. */
const play = async (step: Step, { io, values, run }: { io: Io; values: Values; run: RunLine }) => {
  const { line, exit: expected = 0, meanwhile } = step
  let answer: unknown
  let other: Promise<Ended> | undefined
  let shown = ''
  const runLine = async (typed: string, more: Partial<Io>): Promise<Ended> => {
    let output = ''
    const streams = capture(io, (text) => void (output += text))
    const exit = await run(wordsOf(typed, values), { ...io, ...streams, ...more })
    return { exit, output }
  }
  step.before?.(io.cwd)
  const { exit, output } = await runLine(line, {
    env: step.asks ? { ...io.env, SVC_API_KEY: values.get('key') } : io.env,
    onAnswer: (data) => {
      answer = data
      if (other || !meanwhile || !isPending(data)) return
      const typed = meanwhile(data as Request, io.cwd)
      shown = `  [in another terminal]$ svc ${typed}\n`
      other = runLine(typed, {})
    },
  })
  const second = await other
  if (io.signal.aborted) throw interrupted()
  io.stdout.write(shown + output)
  if (exit !== expected || (meanwhile && second?.exit !== 0))
    throw new SvcError(
      'failed',
      'demo_failed',
      `The demo stopped: the exit code is ${exit} instead of ${expected}`,
      { detail: second?.output },
    )
  for (const [name, path] of Object.entries(step.keep ?? {})) values.set(name, valueAt(answer, path))
}

const playAll = async (
  steps: readonly Step[],
  io: Io,
  { started, run }: { started: number; run: RunLine },
): Promise<void> => {
  const values: Values = new Map()
  for (const step of steps) {
    if (io.signal.aborted) throw interrupted()
    if (step.title) io.stdout.write(`\n# ${step.title}\n`)
    io.stdout.write(`$ ${step.asks ? 'SVC_API_KEY=… ' : ''}svc ${step.line}\n`)
    await play(step, { io, values, run })
  }
  const seconds = (io.now().getTime() - started) / 1000
  io.stdout.write(
    `\n${steps.length} steps, all as expected, in ${seconds.toFixed(1)} s. Nothing is left behind.\n`,
  )
}

/** `svc demo`: runs all steps on its own service, in a temporary folder that is then deleted. */
export const registerDemo = defineCommand({
  examples: ['svc demo'],
  prints: [],
  action: async (_, { io }, { run }) => {
    const started = io.now().getTime()
    const { startService } = await import('../../service/lifecycle/serve.ts')
    const cwd = mkdtempSync(join(tmpdir(), 'svc-demo-'))
    try {
      const service = await startService({
        port: 0,
        host: '127.0.0.1',
        dataDir: join(cwd, 'data'),
        dev: true,
        env: {},
        log: () => undefined,
      })
      try {
        // What `svc serve` prints. The key is never used again, but demos are shown on screens.
        io.stdout.write(
          `$ svc serve --port 0 --dev --data-dir data\nOperator key, saved in the profile local: svc_op_…\nsvc is ready at ${service.baseUrl} (data in ${service.place})\n`,
        )
        const { PATH, TERM, NO_COLOR } = io.env
        const env = {
          PATH,
          TERM,
          NO_COLOR: NO_COLOR ?? (io.stdout.isTTY ? undefined : '1'),
          SVC_CONFIG_DIR: join(cwd, 'config'),
          SVC_BASE_URL: service.baseUrl,
          SVC_API_KEY: service.operatorKey,
        }
        await playAll(steps, { ...io, env, cwd, here: cwd }, { started, run })
      } finally {
        await service.stop()
      }
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  },
})
