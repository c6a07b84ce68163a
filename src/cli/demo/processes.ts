import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { SvcError } from '../../core/errors.ts'
import { safeText } from '../../core/safe-text.ts'

type Start = {
  env: Record<string, string>
  /** Ends it at once. */
  endsBy: NodeJS.Signals
  uid?: number
  gid?: number
}

export type Running = {
  pid: number
  /** Resolves as soon as the process has printed this. Throws an SvcError if it ends before that. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Ends it with SIGKILL. */
  kill(): Promise<void>
}

/** Enough of what a process printed to see why it ended. */
const shownCharacters = 600

/** Starts processes in a folder. Whichever way svc ends, they end with it, and the folder is removed. */
export const createProcesses = (folder: string, signal: AbortSignal) => {
  const children: { child: ChildProcess; endsBy: NodeJS.Signals; closed: Promise<void> }[] = []
  const running = () =>
    children.filter(({ child }) => child.exitCode === null && child.signalCode === null).toReversed()
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  // After a second Ctrl-C nothing else runs.
  const endAll = (): void => {
    for (const { child, endsBy } of running()) child.kill(endsBy)
    remove()
  }
  process.once('exit', endAll)
  return {
    start: (name: string, file: string, args: readonly string[], { endsBy, ...options }: Start): Running => {
      // In a process group of its own: Ctrl-C reaches only svc, which then ends all of them.
      const child = spawn(file, args, {
        ...options,
        cwd: folder,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      child.once('error', ({ message }) => (output += message))
      const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
      if (child.pid !== undefined) children.push({ child, endsBy, closed })
      return {
        pid: child.pid ?? 0,
        printed: (pattern) =>
          new Promise((resolve, reject) => {
            const look = (): void => {
              const found = pattern.exec(output)
              if (found) resolve(found)
            }
            for (const stream of [child.stdout, child.stderr]) stream.on('data', look)
            void closed.then(() =>
              reject(
                new SvcError('failed', 'demo_failed', `${name} did not start`, {
                  detail: safeText(output.trim().slice(-shownCharacters)),
                }),
              ),
            )
            const interrupt = (): void => reject(new SvcError('interrupted', 'interrupted', 'Interrupted'))
            if (signal.aborted) interrupt()
            signal.addEventListener('abort', interrupt, { once: true })
            look()
          }),
        kill: async () => {
          child.kill('SIGKILL')
          await closed
        },
      }
    },
    /** Ends them, the last one first, and removes the folder. */
    end: async (): Promise<void> => {
      for (const { child, endsBy, closed } of running()) {
        child.kill(endsBy)
        await closed
      }
      remove()
      process.removeListener('exit', endAll)
    },
  }
}

export type Processes = ReturnType<typeof createProcesses>
