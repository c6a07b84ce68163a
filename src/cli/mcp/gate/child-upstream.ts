import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Env } from '../../../core/env.ts'
import { createLineSplitter } from './lines.ts'
import type { OnMessage, Upstream } from './upstream.ts'

const isWindows = process.platform === 'win32'
/** How long a server has to end by itself, and then after SIGTERM. */
const patienceMs = 2_000

/**
 * Ends the process group of the server if this process is killed. It reads the number of the group, and then waits for the end of
 * its input: a line before that means that there is nothing left to do.
 */
const watch = `read -r pid || exit 0
read -r done && exit 0
kill -s TERM -- "-$pid"
sleep 1
kill -s KILL -- "-$pid"`

const startWatch = (pid: number, path: string | undefined): ChildProcess => {
  const child = spawn('/bin/sh', ['-c', watch], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: { PATH: path ?? '/usr/bin:/bin' },
  })
  child.on('error', () => undefined)
  child.stdin!.on('error', () => undefined).write(`${pid}\n`)
  child.unref()
  return child
}

type Starting = { file: string; args: readonly string[]; env: Env; cwd: string; most: number }

/** Starts a server as a child process in a group of its own. */
export const startChild = (
  { file, args, env, cwd, most }: Starting,
  { onMessage, onTooLong }: { onMessage: OnMessage; onTooLong(): void },
): Upstream => {
  const child = spawn(file, args, {
    env: env as NodeJS.ProcessEnv,
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
    // Its own group, so that no process of the server is left.
    detached: !isWindows,
  })
  const { pid } = child
  const watching = pid === undefined || isWindows ? undefined : startWatch(pid, env['PATH'])
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (isWindows) child.kill(signal)
      else if (pid !== undefined) process.kill(-pid, signal)
    } catch {
      // Nothing is left of it.
    }
  }
  child.stdout!.on('data', createLineSplitter(most, { line: onMessage, tooLong: onTooLong }))
  child.stdin!.on('error', () => undefined)
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ code }: NodeJS.ErrnoException) => resolve(`could not be started: ${code}`))
    child.once('exit', () => {
      // Processes that it left behind would keep its output open.
      kill('SIGKILL')
      watching?.stdin?.end('done\n')
    })
    child.once('close', (code, signal) =>
      resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
    )
  })
  return {
    send: (bytes) => void child.stdin!.write(Buffer.concat([bytes, Buffer.from('\n')])),
    ended,
    finish: async () => {
      child.stdin!.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        const patience = wait(patienceMs, 'late', { ref: false })
        if ((await Promise.race([ended, patience])) !== 'late') return
        kill(signal)
      }
      await ended
    },
  }
}
