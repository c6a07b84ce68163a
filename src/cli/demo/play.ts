import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { RunLine } from '../program/program.ts'
import type { Io } from '../terminal/io.ts'
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

const isWaiting = ({ argv }: Step): boolean =>
  argv[0] === 'approve' && ['request', 'run', 'wait'].includes(argv[1]!)

type Values = Map<string, string>

/** The words of a line, with the values of earlier steps. */
const withValues = (line: readonly string[], values: Values): string[] =>
  line.map((word) => (word.startsWith('$') ? (values.get(word.slice(1)) ?? word) : word))

type OtherTerminal = { shown: string; exit: number; output: string }

/** Runs a command as in another terminal. */
const playOther = async (
  { disturb }: Step,
  line: string,
  { io, run, values }: { io: Io; run: RunLine; values: Values },
): Promise<OtherTerminal> => {
  const shown = [...(disturb ? [disturb()] : []), `svc ${line}`]
    .map((one) => `  [in another terminal]$ ${one}\n`)
    .join('')
  let output = ''
  const streams = capture(io, (text) => void (output += text))
  const exit = await run(withValues(words(line), values), { ...io, ...streams })
  return { shown, exit, output }
}

const valueAt = (answer: unknown, path: string): unknown =>
  path.split('.').reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], answer)

/** Runs a step with the values of earlier steps. Adds its own values, and returns the output and the problem, if any. */
const play = async (step: Step, io: Io, values: Values, run: RunLine) => {
  const key = step.keyFrom && values.get(step.keyFrom)
  const env = key ? { ...io.env, SVC_API_KEY: key } : io.env
  step.before?.(io.cwd)
  let output = ''
  let answer: unknown
  let other: Promise<OtherTerminal> | undefined
  const streams = capture(io, (text) => void (output += text))
  const onAnswer = (data: unknown): void => {
    answer = data
    if (other || !step.meanwhile || !contains(data, { request_id: /^apr_/, status: 'pending' })) return
    const line = step.meanwhile(data as { request_id: string; number?: string }, io.cwd)
    other = playOther(step, line, { io, run, values })
  }
  // Otherwise the output would contain every version of a progress line.
  if (isWaiting(step))
    streams.stderr = {
      ...streams.stderr,
      write: (text) => void (text.startsWith('\r') || (output += text)),
    }
  const { from } = step
  if (from) streams.stdin = { ...streams.stdin, text: async () => readFileSync(join(io.cwd, from), 'utf8') }
  let saved = ''
  if (step.into) streams.stdout = { ...streams.stdout, isTTY: false, write: (text) => void (saved += text) }
  const exit = await run(withValues(step.argv, values), { ...io, env, ...streams, onAnswer })
  if (step.into) writeFileSync(join(io.cwd, step.into), saved)
  const others = await other
  const kept = Object.entries(step.keep ?? {}).map(([name, path]) => [name, valueAt(answer, path)] as const)
  for (const [name, value] of kept) values.set(name, String(value))

  const problemOf = (): string | undefined => {
    if (exit !== expectedExit(step)) return `the exit code is ${exit} instead of ${expectedExit(step)}`
    if (step.answers !== undefined && !contains(answer, step.answers)) return 'the answer is not as expected'
    if (kept.some(([, value]) => typeof value !== 'string'))
      return 'the answer lacks a value for a later step'
    if (step.meanwhile && others?.exit !== 0)
      return `the other terminal printed: ${others?.output ?? 'nothing'}`
    return undefined
  }
  return { output: (others?.shown ?? '') + output, problem: problemOf() }
}

/** A step as a person would type it. */
const typed = ({ keyFrom, argv, from, into }: Step): string => {
  const line = argv.map((word) => (word.startsWith('$') ? word : shellQuote(word))).join(' ')
  return `${keyFrom ? 'SVC_API_KEY=… ' : ''}svc ${line}${from ? ` < ${from}` : ''}${into ? ` > ${into}` : ''}`
}

const interrupted = (): SvcError => new SvcError('interrupted', 'interrupted', 'Interrupted')

/** Plays all steps. `values` are known before the first one. */
export const playAll = async (
  steps: readonly Step[],
  io: Io,
  { started, run, values = new Map() }: { started: number; run: RunLine; values?: Map<string, string> },
): Promise<void> => {
  for (const step of steps) {
    if (io.signal.aborted) throw interrupted()
    if (step.title) io.stdout.write(`\n# ${step.title}\n`)
    io.stdout.write(`$ ${typed(step)}\n`)
    const { problem, output } = await play(step, io, values, run)
    if (io.signal.aborted) throw interrupted()
    io.stdout.write(output)
    if (problem)
      throw new SvcError('failed', 'demo_failed', `The demo stopped: ${problem}`, { detail: typed(step) })
  }
  const seconds = (io.now().getTime() - started) / 1000
  io.stdout.write(
    `\n${steps.length} steps, all as expected, in ${seconds.toFixed(1)} s. Nothing is left behind.\n`,
  )
}
