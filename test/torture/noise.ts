import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const noise = fileURLToPath(new URL('noise.mts', import.meta.url))

type Noise = { baseUrl: string; org: number; key: string; connections: number; approvers?: string[] }

/**
 * Resolves once it makes noise, or with `limited` once its first burst is over and it is limited. The result stops it, and
 * returns how often each status was returned.
 */
export const startNoise = async ({ baseUrl, key, ...noisy }: Noise, { limited = false } = {}) => {
  const what = JSON.stringify({ origin: new URL(baseUrl).origin, ...noisy })
  const child = spawn(process.execPath, ['--import', 'tsx', noise, what], {
    env: { PATH: process.env.PATH, SVC_API_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  if (limited) await lines.next()
  return async (): Promise<Record<string, number>> => {
    child.kill('SIGTERM')
    for (;;) {
      const { value } = (await lines.next()) as { value: string }
      const line = JSON.parse(value) as Record<string, number>
      if (!('event' in line)) return line
    }
  }
}
