import { exitCode, type Exit } from '../../core/exit-codes.ts'

export type Step = {
  /** What a person learns from it. */
  title: string
  argv: string[]
  /** Remembers the secret that this step shows, under this name. */
  keep?: { as: string; pattern: RegExp }
  /** Runs with a remembered secret as its API key. */
  keyFrom?: string
  /** How svc ends, or what `approve run` exits with. */
  exit?: Exit | number
  /** What the answer must hold. */
  shows?: RegExp[]
  /** Done in the folder of the demo before. */
  before?(folder: string): void | Promise<void>
  /** Typed in another terminal once the answer matches all of `when`; `$1` is what the first of them found. */
  meanwhile?: { when: RegExp[]; line: string }
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
