import { exitCode, type Exit } from '../../core/exit-codes.ts'

export type Step = {
  /** What a person learns from it. */
  title: string
  argv: string[]
  /** Remembers values of the answer: under each name, what is at this path. A later `$name` stands for it. */
  keep?: Record<string, string>
  /** Runs with a remembered value as its API key. */
  keyFrom?: string
  /** How svc ends, or what `approve run` exits with. */
  exit?: Exit | number
  /** What the last answer, or the error, must contain; see `contains`. */
  answers?: unknown
  /** Done in the folder of the demo before. */
  before?(folder: string): void | Promise<void>
  /** Typed in another terminal once there is a request, with the id and the number of it; the folder is that of the demo. */
  meanwhile?: (request: { request_id: string; number?: string }, folder: string) => string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Whether data has what is expected: each field of an object, each entry of a list somewhere in it, a match of a pattern. */
export const contains = (data: unknown, expected: unknown): boolean => {
  if (expected instanceof RegExp) return typeof data === 'string' && expected.test(data)
  if (Array.isArray(expected))
    return Array.isArray(data) && expected.every((one) => data.some((row) => contains(row, one)))
  if (!isObject(expected)) return data === expected
  return isObject(data) && Object.entries(expected).every(([name, value]) => contains(data[name], value))
}

export const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!)

export const step = (title: string, line: string, rest: Omit<Step, 'title' | 'argv'> = {}): Step => ({
  title,
  argv: words(line),
  ...rest,
})

/** The exit code that a step must end with. */
export const expectedExit = ({ exit = 'done' }: Step): number =>
  typeof exit === 'number' ? exit : exitCode(exit)
