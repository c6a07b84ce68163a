import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { env, installHooks } from './bare-service.ts'
import { outcome, startSvc } from './processes.ts'

installHooks()

/** Seconds of processor time that a process has used (Linux). */
const busySeconds = (pid: number): number => {
  const [, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  return Number(fields.join().split(' ')[11]) / 100
}

const start = (...args: string[]) => {
  const child = startSvc([...args, '--jq', 'def f: f; f'], env, { stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, ended: outcome(child) }
}

test.each(['SIGINT', 'SIGTERM'] as const)('a filter without an end is ended by %s', async (name) => {
  const { child, ended } = start('version')
  // Nothing says when jq has begun: the signal is sent until it is taken. Before, svc takes it and exits with 130.
  const timer = setInterval(() => child.kill(name), 50)
  const { exit } = await ended
  clearInterval(timer)
  expect([name, 130]).toContain(child.signalCode ?? exit)
})

test.each([
  ['SIGINT', 'was interrupted'],
  ['SIGTERM', 'did not end within 5 s'],
] as const)(
  'after a change it is ended by %s, and the answer is not lost',
  async (name, why) => {
    const { child, ended } = start('key', 'create', '--can', 'all', '--name', name)
    // All before the filter takes less: now it runs, and it has five seconds.
    await expect.poll(() => busySeconds(child.pid!), { timeout: 15_000 }).toBeGreaterThan(1.5)
    child.kill(name)
    const { exit, stdout, stderr } = await ended
    expect(exit).toBe(11)
    expect(JSON.parse(stdout)).toMatchObject({ name, key: expect.stringMatching(/^svc_op_/) })
    expect(stderr).toContain('svc key create was carried out, but its answer could not be shown')
    expect(stderr).toContain(why)
  },
  30_000,
)
