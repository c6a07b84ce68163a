import { svc } from '../cli/svc.ts'
import { machine } from '../machine.ts'

/** What a command prints that must succeed. It runs in this process, because it only prepares what a test is about. */
export const prepare = async (
  args: string[],
  env: Record<string, string> = {},
  stdin = '',
): Promise<string> => {
  const { exit, out, err } = await svc(args, { env: { ...machine, ...env }, stdin, now: () => new Date() })
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${err}`)
  return out
}
