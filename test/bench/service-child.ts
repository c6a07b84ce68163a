import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export const benchFile = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** An environment without anything that slows or changes Node processes. */
export const cleanEnv = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  ...more,
})

/** The first line of a child that is JSON. */
export const firstLine = async (child: ChildProcess): Promise<Record<string, unknown>> => {
  for await (const line of createInterface({ input: child.stdout! }))
    if (line.startsWith('{')) return JSON.parse(line) as Record<string, unknown>
  throw new Error('The child ended before it was ready')
}

export const stop = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })

export type ServiceChild = {
  pid: number
  baseUrl: string
  apiKey: string
  env: Record<string, string>
  readyMs: number
  end(): Promise<void>
}

/** A real `svc serve` with its key: on an empty data folder, or on the database that `store` names. */
export const startService = async (
  store: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<ServiceChild> => {
  const { path: dir, remove } = temporaryFolder()
  const apiKey = `bench-${'k'.repeat(40)}`
  const env = cleanEnv({ HOME: dir, SVC_CONFIG_DIR: join(dir, 'config') })
  const began = performance.now()
  // Its log goes to a file, because reading a pipe would take time from the measurement.
  const log = join(dir, 'log')
  const logFile = openSync(log, 'w')
  const folder = store['SVC_DATABASE_URL'] === undefined ? ['--data-dir', join(dir, 'data')] : []
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', ...folder, ...flags, '-o', 'json'], {
    env: { ...env, ...store, SVC_BOOTSTRAP_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', logFile],
  })
  closeSync(logFile)
  try {
    const ready = await firstLine(child)
    const baseUrl = String(ready['base_url'])
    return {
      pid: child.pid!,
      baseUrl,
      apiKey,
      env: { ...env, SVC_API_KEY: apiKey, SVC_BASE_URL: baseUrl },
      readyMs: performance.now() - began,
      end: async () => {
        await stop(child)
        remove()
      },
    }
  } catch (error) {
    const lastLog = readFileSync(log, 'utf8').slice(-2000)
    remove()
    throw new Error(`svc serve did not start: ${lastLog}`, { cause: error })
  }
}
