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

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a filter that never returns', async (name) => {
  const { child, ended } = start('version')
  // Nothing tells when jq has started, so the signal is repeated. Before that, svc handles it and exits with 130.
  const timer = setInterval(() => child.kill(name), 50)
  const { exit } = await ended
  clearInterval(timer)
  expect([name, 130]).toContain(child.signalCode ?? exit)
})

test.each([
  ['SIGINT', 'was interrupted'],
  ['SIGTERM', 'did not finish within 5 s'],
] as const)(
  '%s ends it after a write, and the result is still printed',
  async (name, why) => {
    const { child, ended } = start('key', 'create', '--can', 'all', '--name', name)
    // Everything before the filter takes less, so the filter is running now. It has five seconds.
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
