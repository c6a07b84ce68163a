import { spawn } from 'node:child_process'
import type { Pager } from './io.ts'

/** What a shell says when it has no such program, or may not run it. */
const notStarted = new Set([126, 127])

/** Hands a text to a pager that has this terminal, and waits for its end. A person may leave before its last line. */
export const pageOnNode = (text: string, { command, env }: Pager): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command ?? 'less', {
      shell: command !== undefined,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === null || !notStarted.has(code)))
    child.stdin.on('error', () => undefined)
    child.stdin.end(text)
  })
