import { svc } from '../cli/svc.ts'
import { machine } from '../machine.ts'
import type { Ended } from './processes.ts'

// Commands that run in the process of the test, because starting one costs more than all that it does.

/** Runs a command as if in a pipe. The environment holds only PATH, HOME and `env`. */
export const svcHere = async (
  command: string | string[],
  env: Record<string, string> = {},
  stdin = '',
  cwd = process.cwd(),
): Promise<Ended> => {
  const { exit, out, err } = await svc(command, {
    env: { ...machine, ...env },
    stdin,
    cwd,
    now: () => new Date(),
  })
  return { exit, stdout: out, stderr: err }
}

/** What a command prints that must succeed, because it only prepares what a test is about. */
export const prepare = async (
  args: string[],
  env: Record<string, string> = {},
  stdin = '',
): Promise<string> => {
  const { exit, stdout, stderr } = await svcHere(args, env, stdin)
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout
}
