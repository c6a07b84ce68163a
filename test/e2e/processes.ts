import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

// The built command line and the real service, each in a process of its own.

export const bin = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export type Ended = { exit: number | null; stdout: string; stderr: string }

/** Runs `svc ...args` to its end. The environment holds nothing but PATH and what is given. */
export const svc = async (
  args: string[],
  env: Record<string, string> = {},
  stdin = '',
  cwd?: string,
): Promise<Ended> => {
  const child = spawn(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH, ...env }, cwd })
  const ended: Ended = { exit: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const [exit] = (await once(child, 'close')) as [number | null]
  return { ...ended, exit }
}

export type Service = {
  baseUrl: string
  key: string
  dataDir: string
  process: ChildProcess
  /** Everything that it said on stderr. */
  log(): string
  /** SIGTERM, or the signal given, and wait for its end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** `svc serve` on a free port, ready. */
export const startService = async (
  dataDir: string,
  key: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Service> => {
  const child = spawn(
    process.execPath,
    [bin, 'serve', '--port', '0', '--data-dir', dataDir, '--no-profile', '-o', 'json', ...args],
    { env: { PATH: process.env.PATH, SVC_BOOTSTRAP_API_KEY: key, ...env } },
  )
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = once(child, 'exit') as Promise<[number | null]>
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { event: string; base_url: string }
      if (event.event === 'ready') resolve(event.base_url)
    })
    void ended.then(([exit]) => reject(new Error(`svc serve ended with ${exit}: ${log}`)))
  })
  return {
    baseUrl: await ready,
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
