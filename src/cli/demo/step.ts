import { exitCode, type Exit } from '../../core/exit-codes.ts'
import { isRecord } from '../../core/is-record.ts'

export type Step = {
  /** What the step shows; empty if it belongs to the step before. */
  title: string
  argv: string[]
  /** Saves values of the answer by name, from these paths. Later steps use them as `$name`. */
  keep?: Record<string, string>
  /** The saved value to use as the API key. */
  keyFrom?: string
  /** The expected exit of svc, or the exit code of `approve run`. */
  exit?: Exit | number
  /** What the last answer or the error must contain; see `contains`. */
  answers?: unknown
  /** The file that standard input comes from. */
  from?: string
  /** Runs before the step, in the folder of the demo. */
  before?(folder: string): void
  /** The file that gets its standard output, as with `>` in a shell. */
  into?: string
  /** What happens once there is a request, before `meanwhile`. Returns the command that does the same. */
  disturb?: () => string
  /** The command for another terminal, once there is a request. It can use the values of earlier steps. */
  meanwhile?: (request: { request_id: string; number?: string }, folder: string) => string
}

/** Whether data contains all expected fields of an object, all expected entries of a list in any order, or matches a pattern. */
export const contains = (data: unknown, expected: unknown): boolean => {
  if (expected instanceof RegExp) return typeof data === 'string' && expected.test(data)
  if (Array.isArray(expected))
    return Array.isArray(data) && expected.every((one) => data.some((row) => contains(row, one)))
  if (!isRecord(expected)) return data === expected
  return isRecord(data) && Object.entries(expected).every(([name, value]) => contains(data[name], value))
}

export const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!)

export const step = (title: string, line: string, rest: Omit<Step, 'title' | 'argv'> = {}): Step => ({
  title,
  argv: words(line),
  ...rest,
})

/** The exit code that a step must have. */
export const expectedExit = ({ exit = 'done' }: Step): number =>
  typeof exit === 'number' ? exit : exitCode(exit)
