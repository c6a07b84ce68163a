import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { commandWords } from '../command-words.ts'
import { machine } from '../machine.ts'

// The built command line and the real service, each in a process of its own.

export const bin = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export type Ended = { exit: number | null; stdout: string; stderr: string }

/** Waits for a process to end; answers its exit code and what it printed. */
export const outcome = async (child: ChildProcess): Promise<Ended> => {
  const ended: Ended = { exit: null, stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => (ended[name] += text))
  const [exit] = (await once(child, 'close')) as [number | null]
  return { ...ended, exit }
}

/** Starts `svc ...args`. The environment holds only PATH and `env`. */
export const startSvc = (
  args: string[],
  env: Record<string, string> = {},
  options: Omit<SpawnOptions, 'env'> = {},
): ChildProcess => spawn(process.execPath, [bin, ...args], { ...options, env: { ...machine, ...env } })

/** Runs a command to its end. */
export const svc = (
  command: string | string[],
  env: Record<string, string> = {},
  stdin = '',
  cwd = process.cwd(),
): Promise<Ended> => {
  const child = startSvc(typeof command === 'string' ? commandWords(command) : command, env, { cwd })
  child.stdin!.on('error', () => undefined).end(stdin)
  return outcome(child)
}

type Ready = { event: string; base_url: string; metrics_url?: string }

export type Service = {
  baseUrl: string
  /** The event that it printed. */
  ready: Ready
  key: string
  dataDir: string
  process: ChildProcess
  /** Everything that it printed on standard error. */
  log(): string
  /** Sends SIGTERM, or the signal given, and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

type Serve = {
  args?: string[]
  env?: Record<string, string>
  /** What Node runs instead of the built program. */
  program?: readonly string[]
}

/** Starts `svc serve` on a free port with these flags and waits until it is ready. */
export const startServe = async (
  dataDir: string,
  key: string,
  { args = [], env = {}, program = [bin] }: Serve,
): Promise<Service> => {
  const port = args.includes('--port') ? [] : ['--port', '0']
  const child = spawn(
    process.execPath,
    [...program, 'serve', ...port, '--no-profile', '-o', 'json', ...args],
    { env: { ...machine, SVC_BOOTSTRAP_API_KEY: key, ...env } },
  )
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = once(child, 'exit') as Promise<[number | null]>
  const ready = new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as Ready
      if (event.event === 'ready') resolve(event)
    })
    void ended.then(([exit]) => reject(new Error(`svc serve ended with ${exit}: ${log}`)))
  })
  const event = await ready
  return {
    baseUrl: event.base_url,
    ready: event,
    key,
    dataDir,
    process: child,
    log: () => log,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return (await ended)[0]
    },
  }
}

/** Starts `svc serve` with a data folder on a free port and waits until it is ready. */
export const startService = (
  dataDir: string,
  key: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Service> => startServe(dataDir, key, { args: ['--data-dir', dataDir, ...args], env })
