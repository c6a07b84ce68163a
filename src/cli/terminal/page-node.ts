import { spawn } from 'node:child_process'
import { withoutSecrets } from '../../core/env.ts'
import type { Pager } from './io.ts'

/** Exit codes of a shell that cannot find or run the program. */
const notStarted = new Set([126, 127])

/** Shows text in a pager on this terminal and waits until it exits, perhaps before the last line. */
export const pageOnNode = (text: string, { command, env }: Pager): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command ?? 'less', {
      shell: command !== undefined,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...withoutSecrets(process.env), ...env } as NodeJS.ProcessEnv,
    })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === null || !notStarted.has(code)))
    child.stdin.on('error', () => undefined)
    child.stdin.end(text)
  })
