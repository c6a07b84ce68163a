import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SvcError } from '../../core/errors.ts'
import { safeText } from '../../core/safe-text.ts'
import type { RunLine } from '../program/program.ts'
import type { Io } from '../terminal/io.ts'
import { nodeSteps } from './node-steps.ts'
import { playAll } from './play.ts'

/** Beside the built program, or in the documentation of the source tree. */
const findScript = (): string => {
  const here = dirname(fileURLToPath(import.meta.url))
  return [join(here, 'nodes.sh'), join(here, '../../../docs/nodes.sh')].find((one) => existsSync(one))!
}

/** Enough of what it printed to see why it ended. */
const shownCharacters = 600

/** Starts PostgreSQL and three nodes with `docs/nodes.sh`, which removes everything when it ends. */
const startNodes = ({ cwd: folder, env, signal }: Io) => {
  // As root, the script runs PostgreSQL as another user, who must be able to enter this folder.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711)
  const child = spawn('sh', [findScript()], {
    cwd: folder,
    // In a process group of its own: Ctrl-C reaches only svc, which then ends all of them.
    detached: true,
    env: {
      PATH: [dirname(process.execPath), env.PATH].join(delimiter),
      TMPDIR: folder,
      SVC: realpathSync(process.argv[1]!),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  // After a second Ctrl-C nothing else runs.
  const endAtOnce = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  process.once('exit', endAtOnce)
  return {
    /** Resolves with what is in `nodes.env`. Throws an SvcError if the script ends before that. */
    ready: new Promise<string>((resolve, reject) => {
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
          if (output.includes('Ctrl-C')) resolve(readFileSync(join(folder, 'nodes.env'), 'utf8'))
        })
      child.once('error', reject)
      void closed.then(() =>
        reject(
          new SvcError('failed', 'demo_failed', 'PostgreSQL and three nodes did not start', {
            detail: safeText(output.trim().slice(-shownCharacters)),
            hint: 'Without PostgreSQL: svc demo',
          }),
        ),
      )
      const interrupt = (): void => reject(new SvcError('interrupted', 'interrupted', 'Interrupted'))
      if (signal.aborted) interrupt()
      signal.addEventListener('abort', interrupt, { once: true })
    }),
    end: async (): Promise<void> => {
      child.kill('SIGTERM')
      await closed
      process.removeListener('exit', endAtOnce)
    },
  }
}

/** Plays the demo on PostgreSQL and three nodes, which are processes of their own. `io` has their folder and environment. */
export const playOnNodes = async (io: Io, start: { started: number; run: RunLine }): Promise<void> => {
  const nodes = startNodes(io)
  try {
    io.stdout.write('PostgreSQL and three nodes start in a temporary folder\n')
    const text = await nodes.ready
    const values = new Map([...text.matchAll(/\b(\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]))
    for (const name of ['node1', 'node2', 'node3']) io.stdout.write(`${name}=${values.get(name)}\n`)
    const killFirst = (): string => {
      process.kill(Number(values.get('pid1')), 'SIGKILL')
      return `kill -9 ${values.get('pid1')}`
    }
    const env = { ...io.env, SVC_API_KEY: values.get('SVC_API_KEY') }
    await playAll(nodeSteps(killFirst), { ...io, env }, { ...start, values })
  } finally {
    await nodes.end()
  }
}
