import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { env, installHooks } from './bare-service.ts'
import { bin } from './processes.ts'

installHooks()

/** Seconds of processor time that a process has used (Linux). */
const busySeconds = (pid: number): number => {
  const [, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  return Number(fields.join().split(' ')[11]) / 100
}

const start = (...args: string[]) => {
  const child = spawn(process.execPath, [bin, ...args, '--jq', 'def f: f; f'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  return { child, said, ended: once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]> }
}

test.each(['SIGINT', 'SIGTERM'] as const)('a filter without an end is ended by %s', async (name) => {
  const { child, ended } = start('version')
  // Nothing says when jq has begun: the signal is sent until it is taken. Before, svc takes it and exits with 130.
  const timer = setInterval(() => child.kill(name), 50)
  const [exit, signal] = await ended
  clearInterval(timer)
  expect([name, 130]).toContain(signal ?? exit)
})

test.each([
  ['SIGINT', 'was interrupted'],
  ['SIGTERM', 'did not end within 5 s'],
] as const)(
  'after a change it is ended by %s, and the answer is not lost',
  async (name, why) => {
    const { child, said, ended } = start('key', 'create', '--can', 'all', '--name', name)
    // All before the filter takes less: now it runs, and it has five seconds.
    await expect.poll(() => busySeconds(child.pid!), { timeout: 15_000 }).toBeGreaterThan(1.5)
    child.kill(name)
    expect(await ended).toEqual([11, null])
    expect(JSON.parse(said.out)).toMatchObject({ name, key: expect.stringMatching(/^svc_op_/) })
    expect(said.err).toContain('svc key create was carried out, but its answer could not be shown')
    expect(said.err).toContain(why)
  },
  30_000,
)
