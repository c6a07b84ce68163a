import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Register, RunLine } from '../program/program.ts'
import type { Io } from '../terminal/io.ts'
import { developerLog, steps } from './steps.ts'
import { contains, expectedExit, type Step, words } from './step.ts'

/** Streams that pass what is written to `write`, as on a terminal. */
const capture = (io: Io, write: (text: string) => void): Pick<Io, 'stdin' | 'stdout' | 'stderr'> => {
  const sink = { write, isTTY: true, columns: Math.min(io.stdout.columns, 110) }
  return {
    stdin: { isTTY: false, text: async () => '', bytes: async () => Buffer.alloc(0) },
    stdout: sink,
    stderr: sink,
  }
}

const isWaiting = ({ argv }: Step): boolean => argv[0] === 'approve' && ['request', 'run'].includes(argv[1]!)

type OtherTerminal = { line: string; ended: Promise<{ exit: number; output: string }> }

/** Runs a command as in another terminal, once there is a request to decide. */
const startOther = (
  { meanwhile }: Step,
  answer: unknown,
  io: Io,
  run: RunLine,
): OtherTerminal | undefined => {
  if (!meanwhile || !contains(answer, { request_id: /^apr_/, status: 'pending' })) return undefined
  const line = meanwhile(answer as { request_id: string; number?: string }, io.cwd)
  let output = ''
  const streams = capture(io, (text) => void (output += text))
  return { line, ended: run(words(line), { ...io, ...streams }).then((exit) => ({ exit, output })) }
}

const valueAt = (answer: unknown, path: string): unknown =>
  path.split('.').reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], answer)

/** Runs a step with the values of earlier steps. Adds its own values, and returns the output and the problem, if any. */
const play = async (step: Step, io: Io, values: Map<string, string>, run: RunLine) => {
  const key = step.keyFrom && values.get(step.keyFrom)
  const env = key ? { ...io.env, SVC_API_KEY: key } : io.env
  const argv = step.argv.map((word) => (word.startsWith('$') ? (values.get(word.slice(1)) ?? word) : word))
  await step.before?.(io.cwd)
  let output = ''
  let answer: unknown
  let other: OtherTerminal | undefined
  const streams = capture(io, (text) => void (output += text))
  const onAnswer = (data: unknown): void => {
    answer = data
    if (other) return
    other = startOther(step, data, io, run)
    if (other) output += `  [in another terminal]$ svc ${other.line}\n`
  }
  // The output would contain every version of a progress line.
  if (isWaiting(step)) streams.stderr = { ...streams.stderr, isTTY: false }
  const exit = await run(argv, { ...io, env, ...streams, onAnswer })
  const others = await other?.ended
  const saved = Object.entries(step.keep ?? {}).map(([name, path]) => [name, valueAt(answer, path)] as const)
  for (const [name, value] of saved) values.set(name, String(value))

  const problemOf = (): string | undefined => {
    if (exit !== expectedExit(step)) return `the exit code is ${exit} instead of ${expectedExit(step)}`
    if (step.answers !== undefined && !contains(answer, step.answers)) return 'the answer is not as expected'
    if (saved.some(([, value]) => typeof value !== 'string'))
      return 'the answer lacks a value for a later step'
    if (step.meanwhile && others?.exit !== 0)
      return `the other terminal printed: ${others?.output ?? 'nothing'}`
    return undefined
  }
  return { output, problem: problemOf() }
}

/** A step as a person would type it. */
const typed = ({ keyFrom, argv }: Step): string =>
  `${keyFrom ? 'SVC_API_KEY=… ' : ''}svc ${argv.map((word) => (word.startsWith('$') ? word : shellQuote(word))).join(' ')}`

const playAll = async (io: Io, started: number, run: RunLine): Promise<void> => {
  const values = new Map<string, string>()
  for (const step of steps) {
    if (io.signal.aborted) throw new SvcError('interrupted', 'interrupted', 'Interrupted')
    if (step.title) io.stdout.write(`\n# ${step.title}\n`)
    io.stdout.write(`$ ${typed(step)}\n`)
    const { problem, output } = await play(step, io, values, run)
    io.stdout.write(output)
    if (problem)
      throw new SvcError('failed', 'demo_failed', `The demo stopped: ${problem}`, { detail: typed(step) })
  }
  const seconds = (io.now().getTime() - started) / 1000
  io.stdout.write(
    `\n${steps.length} steps, all as expected, in ${seconds.toFixed(1)} s. Nothing is left behind.\n`,
  )
}

/** `svc demo`: runs all steps on its own service, in a temporary folder that is then deleted. */
export const registerDemo: Register = (command, context, { run }) => {
  command
    .usage('')
    .addHelpText('after', '\nExample:\n  svc demo')
    .action(async () => {
      const started = context.io.now().getTime()
      const folder = mkdtempSync(join(tmpdir(), 'svc-demo-'))
      const { startService } = await import('../../service/lifecycle/serve.ts')
      try {
        const service = await startService({
          port: 0,
          host: '127.0.0.1',
          dataDir: join(folder, 'data'),
          dev: true,
          env: {},
          log: ({ message }) => message && appendFileSync(developerLog(folder), `${message}\n`),
        })
        try {
          context.io.stdout.write(`$ svc serve --port 0 --dev\nsvc is ready at ${service.baseUrl}\n`)
          const { PATH, TERM, NO_COLOR } = context.io.env
          const env = {
            PATH,
            TERM,
            NO_COLOR: NO_COLOR ?? (context.io.stdout.isTTY ? undefined : '1'),
            SVC_CONFIG_DIR: join(folder, 'config'),
            SVC_BASE_URL: service.baseUrl,
            SVC_API_KEY: service.operatorKey,
          }
          await playAll({ ...context.io, env, cwd: folder }, started, run)
        } finally {
          await service.stop()
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
}
