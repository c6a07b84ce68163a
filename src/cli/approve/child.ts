import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { SvcError } from '../../core/errors.ts'
import type { Env } from '../../core/env.ts'

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Runs a command on this process's own streams and answers its exit code: 128 + n when signal n ended it, as a shell
 * says. Signals go to the child while it runs; svc itself ends after it.
 */
export const runChild = async (
  file: string,
  args: readonly string[],
  { env, cwd }: { env: Env; cwd: string },
): Promise<number> => {
  const child = spawn(file, args, { env: env as NodeJS.ProcessEnv, cwd, stdio: 'inherit' })
  const before = passedOn.map((name) => [name, process.rawListeners(name)] as const)
  const pass = (signal: NodeJS.Signals): void => {
    // Ctrl-C at a terminal goes to the whole group: the child has it already.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const name of passedOn) process.removeAllListeners(name).on(name, pass)
  try {
    return await new Promise<number>((done, fail) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        fail(
          new SvcError('notExecutable', 'not_executable', `${file} could not be started: ${error.code}`, {
            hint: 'Check that the program in its first line (#!) exists',
          }),
        ),
      )
      child.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)))
    })
  } finally {
    for (const [name, listeners] of before) {
      process.removeListener(name, pass)
      for (const listener of listeners) process.on(name, listener as NodeJS.SignalsListener)
    }
  }
}
