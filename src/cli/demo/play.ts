import { shellWord } from '../../core/shell-word.ts'
import type { Io } from '../terminal/io.ts'
import type { RunLine } from '../program/program.ts'
import { contains, expectedExit, words, type Step } from './step.ts'

type Played = { problem?: string; output: string; kept: [name: string, value: string][] }

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
  `${step.keyFrom ? 'SVC_API_KEY=… ' : ''}svc ${step.argv.map((word) => (word.startsWith('$') ? word : shellWord(word))).join(' ')}`
