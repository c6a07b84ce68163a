import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
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
  const { child, ended } = start('commands')
  // Nothing tells when jq has started, so the signal is repeated. Before that, svc handles it and exits with 130.
  const timer = setInterval(() => child.kill(name), 50)
  const { exit } = await ended
  clearInterval(timer)
  expect([name, 130]).toContain(child.signalCode ?? exit)
})

/** Waits for a line of --debug about a successful answer. */
const answered = async (child: ChildProcess): Promise<void> => {
  let debug = ''
  for await (const [text] of on(child.stderr!, 'data') as AsyncIterable<[string]>)
    if (/^< 2/m.test((debug += text))) return
}

test.each([
  // Nothing after the answer takes as long as this, so the filter is running when SIGINT arrives.
  ['SIGINT', 0.3, 'was interrupted'],
  // SIGTERM has the same result before and while the filter runs.
  ['SIGTERM', 0, 'did not finish within 5 s'],
] as const)('%s ends it after a write, and the result is still printed', async (name, filtering, why) => {
  const { child, ended } = start('key', 'create', '--can', 'all', '--name', name, '--debug')
  await answered(child)
  const before = busySeconds(child.pid!)
  await expect
    .poll(() => busySeconds(child.pid!) - before, { interval: 20 })
    .toBeGreaterThanOrEqual(filtering)
  child.kill(name)
  const { exit, stdout, stderr } = await ended
  expect(exit).toBe(11)
  expect(JSON.parse(stdout)).toMatchObject({ name, key: expect.stringMatching(/^svc_op_/) })
  expect(stderr).toContain('svc key create was carried out, but its answer could not be shown')
  expect(stderr).toContain(why)
})
