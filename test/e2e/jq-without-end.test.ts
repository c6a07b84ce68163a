import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { bin } from './processes.ts'

it('a filter without an end is ended by Ctrl-C', async () => {
  const child = spawn(process.execPath, [bin, 'version', '--jq', 'def f: f; f'], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  // Nothing says when jq has begun: the signal is sent until it is taken. Before, svc takes it and exits with 130.
  const timer = setInterval(() => child.kill('SIGINT'), 50)
  const [exit, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  clearInterval(timer)
  expect(['SIGINT', 130]).toContain(signal ?? exit)
})
