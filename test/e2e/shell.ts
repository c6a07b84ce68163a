import { spawn } from 'node:child_process'
import { bin, outcome, type Ended } from './processes.ts'
import { machine } from '../machine.ts'

// Types the commands that svc prints, exactly as printed.

/** Types a line into a shell that has svc. Its standard input is empty. */
export const typeLine = (line: string, env: Record<string, string>, cwd?: string): Promise<Ended> => {
  const child = spawn('bash', ['-c', `svc() { '${process.execPath}' '${bin}' "$@"; }\n${line}`], {
    cwd,
    env: { ...machine, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return outcome(child)
}

/** The command of a hint, without the rest of the sentence. */
export const hintOf = ({ stderr }: Pick<Ended, 'stderr'>): string => {
  const [, line] =
    /^hint: (svc .*?)(?: continues.*| goes on.*| creates .*| makes .*|; .*)?$/m.exec(stderr) ?? []
  if (line === undefined) throw new Error(`There is no command in: ${stderr}`)
  return line
}
