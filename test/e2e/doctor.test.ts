import { chmodSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { onTerminal } from './terminal.ts'
import { env, installHooks, path, service } from './bare-service.ts'
import { isWhole } from '../whole.ts'
import { svcHere } from './prepare.ts'

installHooks()

const examine = async (extra: Record<string, string> = {}, ...flags: string[]) => {
  const { exit, stdout, stderr } = await svcHere(['doctor', '-o', 'json', ...flags], { ...env, ...extra })
  const findings = JSON.parse(stdout) as Finding[]
  const of = (check: string): Finding | undefined => findings.findLast((one) => one.check === check)
  return { exit, findings, of, stderr, stdout }
}

/** The text without durations, which differ between two runs. */
const words = (text: string): string[] => text.replaceAll(/\d+ m?s\b/g, '').split(/\s+/)

describe('svc doctor', () => {
  test('reports no problem with a working setup, from the profiles to the tool server', async () => {
    const { exit, findings, of } = await examine()
    expect(findings.filter(({ state }) => state === 'fail' || state === 'warn')).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual([
      'profiles',
      'address',
      'tls',
      'key',
      'service',
      'clock',
      // No organization yet.
      'service',
      'delivery',
      'delivery',
      'delivery',
      'delivery',
      'store',
      'keys',
      'tool server',
      'approver',
    ])
    expect(of('tool server')?.message).toContain('request_approval_async')
    expect(exit).toBe(0)
  })

  test.runIf(isWhole)('waits for a service that hangs only once, and not for a minute', async () => {
    const hanging = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(hanging, 'listening')
    const origin = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`
    const began = performance.now()
    const { exit, findings, of } = await examine({ SVC_BASE_URL: `${origin}/admin/public/api` })
    expect(performance.now() - began).toBeLessThan(30_000)
    expect([exit, of('service')?.state]).toEqual([1, 'fail'])
    expect(findings.map(({ check }) => check)).not.toContain('tool server')
    hanging.closeAllConnections()
    hanging.close()
  })

  test('prints aligned lines', async () => {
    const { stdout } = await svcHere(['doctor'], env)
    expect(stdout).toMatch(/^note {2}profiles {5}there are no profiles yet\n {19}next: svc profile login/)
    expect(stdout).toMatch(/^ok {4}clock {8}within/m)
  })

  test('wraps lines at spaces on a narrow terminal', async () => {
    const { stdout } = await svcHere(['doctor'], env)
    const size = { rows: 40, columns: 60 }
    const { screen } = await onTerminal(['doctor'], { ...env, TERM: 'xterm-256color' }, [], size)
    const lines = screen.replaceAll('\r', '').split('\n')
    expect(lines.filter((line) => line.length > 60 && !/^ *\S+$/.test(line))).toEqual([])
    expect(words(screen.replaceAll('\r', ''))).toEqual(words(stdout))
  })

  test('reports which channels can deliver messages', async () => {
    const { findings } = await examine()
    const delivery = findings.filter(({ check }) => check === 'delivery')
    expect(delivery.map(({ message }) => message)).toEqual([
      'email is not set up',
      'sms is not set up',
      'push is set up, and no message is waiting',
      'webhook is set up, and no message is waiting',
    ])
    expect(delivery[0]?.next).toContain('svc serve --config')
  })

  test('reports a key that the service rejects, with the next command, and prints no key', async () => {
    const { exit, of, stdout, stderr } = await examine({ SVC_API_KEY: 'svc_op_00000000_wrong-and-secret' })
    expect(exit).toBe(1)
    expect(of('service')).toMatchObject({ state: 'fail', next: expect.stringContaining('svc profile login') })
    expect(stdout + stderr).not.toContain('wrong-and-secret')
  })

  test('checks the tool server even without a key', async () => {
    const { of } = await examine({ SVC_API_KEY: '' })
    expect(of('key')).toMatchObject({ state: 'fail', next: expect.stringContaining('SVC_API_KEY') })
    expect(of('service')).toBeUndefined()
    expect(of('tool server')?.state).toBe('ok')
  })

  test('reports an unreachable service', async () => {
    const { of, exit } = await examine({ SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api' })
    expect(of('service')?.state).toBe('fail')
    expect(exit).toBe(1)
  })

  test('sends nothing over plain http to another host', async () => {
    const { findings, of } = await examine({ SVC_BASE_URL: 'http://203.0.113.9/admin/public/api' })
    expect(of('address')).toMatchObject({
      state: 'fail',
      next: expect.stringContaining('https://203.0.113.9'),
    })
    expect(findings.at(-1)?.check).toBe('address')
  })

  test('reports a wrong clock', async () => {
    const late = createServer((_, response) =>
      response
        .setHeader('date', new Date(Date.now() - 400_000).toUTCString())
        .setHeader('content-type', 'application/json')
        .end('{"status":"success","message":"Organizations","data":[]}'),
    ).listen(0, '127.0.0.1')
    await once(late, 'listening')
    const { port } = late.address() as AddressInfo
    const { of } = await examine({ SVC_BASE_URL: `http://127.0.0.1:${port}/admin/public/api` })
    late.close()
    expect(of('clock')).toMatchObject({ state: 'fail', message: expect.stringMatching(/40\d s ahead of/) })
  })

  test('reports a profile file that others can read, and how to correct it', async () => {
    const dir = path('open')
    const own = { SVC_CONFIG_DIR: dir }
    await svcHere(['profile', 'create', 'prod', '--base-url', service.baseUrl], { ...env, ...own })
    const file = join(dir, 'profiles.json')
    chmodSync(file, 0o644)
    chmodSync(dir, 0o755)

    const before = await examine(own)
    expect(before.exit).toBe(1)
    expect(before.of('profiles')).toMatchObject({
      state: 'fail',
      next: expect.stringContaining('chmod 600'),
    })
    expect(statSync(file).mode & 0o777).toBe(0o644)
  })
})
