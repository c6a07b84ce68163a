import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Register, RunLine } from '../program/program.ts'
import type { Io } from '../terminal/io.ts'
import { developerLog, steps } from './steps.ts'
import { contains, expectedExit, type Step, words } from './step.ts'

type Played = { problem?: string | undefined; output: string; kept: [name: string, value: string][] }

/** Streams that keep what is written. */
const captured = (io: Io, note: (text: string) => void): Pick<Io, 'stdin' | 'stdout' | 'stderr'> => {
  const sink = { write: note, isTTY: true, columns: Math.min(io.stdout.columns, 110) }
  return {
    stdin: { isTTY: false, text: async () => '', bytes: async () => Buffer.alloc(0) },
    stdout: sink,
    stderr: sink,
  }
}

const waits = ({ argv }: Step): boolean => argv[0] === 'approve' && ['request', 'run'].includes(argv[1]!)

type Aside = { line: string; ended: Promise<{ exit: number; output: string }> }

/** What is typed in another terminal, once there is a request to decide. */
const startAside = ({ meanwhile }: Step, answer: unknown, io: Io, run: RunLine): Aside | undefined => {
  if (!meanwhile || !contains(answer, { request_id: /^apr_/, status: 'pending' })) return undefined
  const line = meanwhile(answer as { request_id: string; number?: string }, io.cwd)
  let output = ''
  const streams = captured(io, (text) => void (output += text))
  return { line, ended: run(words(line), { ...io, ...streams }).then((exit) => ({ exit, output })) }
}

const valueAt = (answer: unknown, path: string): unknown => {
  let at = answer
  for (const name of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[name]
  return at
}

/** Runs one step as the terminal would, and reports what is not as it should be. */
export const play = async (
  step: Step,
  io: Io,
  values: ReadonlyMap<string, string>,
  run: RunLine,
): Promise<Played> => {
  const key = step.keyFrom && values.get(step.keyFrom)
  const env = key ? { ...io.env, SVC_API_KEY: key } : io.env
  const argv = step.argv.map((word) => (word.startsWith('$') ? (values.get(word.slice(1)) ?? word) : word))
  await step.before?.(io.cwd)
  let output = ''
  let answer: unknown
  let aside: Aside | undefined
  const streams = captured(io, (text) => void (output += text))
  const onAnswer = (data: unknown): void => {
    answer = data
    if (aside) return
    aside = startAside(step, data, io, run)
    if (aside) output += `  [in another terminal]$ svc ${aside.line}\n`
  }
  // A line that is redrawn would be kept in all its versions.
  if (waits(step)) streams.stderr = { ...streams.stderr, isTTY: false }
  const exit = await run(argv, { ...io, env, ...streams, onAnswer })
  const beside = await aside?.ended
  const kept = Object.entries(step.keep ?? {}).map(([name, path]) => [name, valueAt(answer, path)] as const)
  const problem =
    exit !== expectedExit(step)
      ? `it exited with ${exit} and not with ${expectedExit(step)}`
      : step.answers !== undefined && !contains(answer, step.answers)
        ? `its answer is not as expected`
        : kept.some(([, value]) => typeof value !== 'string')
          ? 'its answer lacks what is needed later'
          : step.meanwhile && beside?.exit !== 0
            ? `the other terminal said: ${beside?.output ?? 'nothing'}`
            : undefined
  return { problem, output, kept: kept.map(([name, value]) => [name, String(value)]) }
}

/** A step as a person would type it. */
export const typed = (step: Step): string =>
  `${step.keyFrom ? 'SVC_API_KEY=… ' : ''}svc ${step.argv.map((word) => (word.startsWith('$') ? word : shellQuote(word))).join(' ')}`

const failure = (step: Step, problem: string): SvcError =>
  new SvcError('failed', 'demo_failed', `The demo stopped: ${problem}`, { detail: typed(step) })

const tell = async (io: Io, started: number, run: RunLine): Promise<void> => {
  const secrets = new Map<string, string>()
  for (const step of steps) {
    if (io.signal.aborted) throw new SvcError('interrupted', 'interrupted', 'Interrupted')
    if (step.title) io.stdout.write(`\n# ${step.title}\n`)
    io.stdout.write(`$ ${typed(step)}\n`)
    const { problem, output, kept } = await play(step, io, secrets, run)
    io.stdout.write(output)
    if (problem) throw failure(step, problem)
    for (const one of kept) secrets.set(...one)
  }
  const seconds = (io.now().getTime() - started) / 1000
  io.stdout.write(
    `\n${steps.length} steps, all as expected, in ${seconds.toFixed(1)} s. Nothing is left behind.\n`,
  )
}

/** `svc demo`: the whole story on a service of its own in a temporary folder, which is gone afterwards. */
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
          await tell({ ...context.io, env, cwd: folder }, started, run)
        } finally {
          await service.stop()
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
}
