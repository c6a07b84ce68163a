import type { Io } from '../io.ts'
import { run } from '../main.ts'
import { expectedExit, type Step } from './steps.ts'

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)

type Played = { problem?: string; output: string; kept?: [name: string, secret: string] }

/** Runs one step as the terminal would, and says what is not as it should be. */
export const play = async (step: Step, io: Io, secrets: ReadonlyMap<string, string>): Promise<Played> => {
  const key = step.keyFrom && secrets.get(step.keyFrom)
  const env = key ? { ...io.env, SVC_API_KEY: key } : io.env
  let output = ''
  const sink = {
    write: (text: string): void => void (output += text),
    isTTY: true,
    columns: Math.min(io.stdout.columns, 110),
  }
  const exit = await run(step.argv, {
    ...io,
    env,
    stdin: { isTTY: false, text: async () => '' },
    stdout: sink,
    stderr: sink,
  })
  const missing = step.shows?.find((pattern) => !pattern.test(output))
  const kept = step.keep?.pattern.exec(output)?.[0]
  const problem =
    exit !== expectedExit(step)
      ? `it exited with ${exit} and not with ${expectedExit(step)}`
      : missing
        ? `its answer lacks ${String(missing)}`
        : step.keep && !kept
          ? `it showed no secret`
          : undefined
  return { problem, output, ...(kept ? { kept: [step.keep!.as, kept] as const as [string, string] } : {}) }
}

/** A step as a person would type it. */
export const typed = (step: Step): string =>
  `${step.keyFrom ? 'SVC_API_KEY=… ' : ''}svc ${step.argv.map(quoted).join(' ')}`
