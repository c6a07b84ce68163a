import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { bin } from '../e2e/processes.ts'
import { firstLine } from './service-child.ts'

const lookMs = 10

export type Env = Record<string, string>

/** The most memory that a process has had, in MiB; 0 once it is gone. */
export const peakOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Runs a command to its end. Throws if it fails. */
export const run = async (argv: string[], env: Env): Promise<{ ms: number; mib: number }> => {
  const began = performance.now()
  const child = spawn(process.execPath, [bin, ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  let mib = 0
  const looking = setInterval(() => (mib = Math.max(mib, peakOf(child.pid!))), lookMs)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(looking)
  // A check that warns is no failure of the command.
  if (code !== 0 && argv[0] !== 'doctor') throw new Error(`svc ${argv.join(' ')} ended with ${code}: ${text}`)
  return { ms: performance.now() - began, mib }
}

/** Starts the service. Throws what it said if it ends before it is ready. */
export const serve = async (flags: string[], env: Env) => {
  const began = performance.now()
  const argv = [bin, 'serve', '--port', '0', '--no-profile', '--drain', '0', '-o', 'json', ...flags]
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-2000)))
  const ready = await firstLine(child).catch((cause: unknown) => {
    throw new Error(`svc serve did not start: ${log}`, { cause })
  })
  return { child, baseUrl: String(ready['base_url']), ms: performance.now() - began }
}
