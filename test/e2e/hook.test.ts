import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { hostNames, type HostName } from '../../src/cli/hook/host.ts'
import { inputOf, letsRun } from '../hook-hosts.ts'
import { decide, env, installHooks, ok, path, service } from './approvals.ts'
import { callHook, hookProcess, installedLine, type Held } from './hook-line.ts'
import { startSvc, svc } from './processes.ts'

installHooks()

/** What an agent has: a key that can only request approvals. */
const agent = () => ({
  HOME: path('home'),
  SVC_BASE_URL: service.baseUrl,
  SVC_CONFIG_DIR: path('agent'),
  SVC_ASK_KEY: env.SVC_ASK_KEY!,
})
const lineOf = (host: HostName, flags: string[] = []) =>
  installedLine(
    host,
    ['--to', env.SVC_DEFAULT_MOBILE!, '--org', 'acme', '--timeout', '20', ...flags],
    agent(),
  )
const call = async (host: HostName, flags: string[] = [], more: object = {}): Promise<Held> =>
  callHook(
    await lineOf(host, flags),
    JSON.stringify({ ...inputOf(host, 'touch /tmp/ran'), ...more }),
    agent(),
  )

type Request = { request_id: string; subject: { data: Record<string, unknown> } }
const pending = async (): Promise<Request> => {
  const list = ['approve', 'list', '--status', 'pending', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'json']
  for (;;) {
    const [first] = JSON.parse(await ok(list)) as Request[]
    if (first) return first
  }
}

describe.each(hostNames)('svc hook run %s', (host) => {
  test('lets a call run only after a person has approved exactly it', async () => {
    const held = await call(host)
    const { request_id, subject } = await pending()
    expect(subject.data).toMatchObject({
      tool: expect.stringMatching(/bash|shell/i),
      arguments: { command: 'touch /tmp/ran' },
      parameters: { cwd: '/home/ada/work' },
    })
    await decide('approve', request_id)
    const ended = await held.ended
    expect([ended.exit, ended.stderr]).toEqual([0, ''])
    expect(letsRun(host, ended)).toBe(true)
    expect(ended.stdout.includes(request_id)).toBe(['claude', 'copilot', 'gemini'].includes(host))
    // It was used up.
    expect((await svc(['approve', 'status', request_id, '--jq', '.used_at'], env)).stdout).toMatch(/^2/)
  })

  test('blocks a call that a person denies', async () => {
    const held = await call(host)
    await decide('deny', (await pending()).request_id)
    const ended = await held.ended
    expect(letsRun(host, ended)).toBe(false)
    expect(ended.exit).toBe(2)
    expect(ended.stdout + ended.stderr).toContain('Not approved (denied): the call did not run')
  })

  test('blocks if the program of the hook is gone or was killed', async () => {
    const line = await lineOf(host)
    const gone = await callHook(line.replace('/bin/svc.js', '/bin/gone.js'), '{}', agent()).ended
    expect(letsRun(host, gone)).toBe(false)
    const held = await call(host)
    await pending()
    process.kill(hookProcess(held.child.pid!), 'SIGKILL')
    const killed = await held.ended
    expect([killed.exit, letsRun(host, killed)]).toEqual([2, false])
  })
})

describe('svc hook run blocks', () => {
  test('a call that nobody decides about in time', async () => {
    const ended = await (await call('claude', ['--timeout', '1'])).ended
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('Not approved (expired)') })
  })

  test('if it is terminated, and withdraws the request', async () => {
    const held = await call('claude')
    const { request_id } = await pending()
    process.kill(hookProcess(held.child.pid!), 'SIGTERM')
    expect(await held.ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('Interrupted') })
    expect((await svc(['approve', 'status', request_id], env)).stdout).not.toContain('pending')
  })

  test('if the service does not answer', async () => {
    const ended = await (await call('claude', ['--base-url', 'http://127.0.0.1:1/'])).ended
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('Nothing answers') })
  })

  test('a key that can influence who approves', async () => {
    writeFileSync(path('every.key'), env.SVC_API_KEY!, { mode: 0o600 })
    const line = await lineOf('claude', ['--key-file', path('every.key')])
    const { SVC_ASK_KEY, ...own } = agent()
    const ended = await callHook(line, JSON.stringify(inputOf('claude', 'ls')), own).ended
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('can influence who approves') })
    expect(SVC_ASK_KEY).not.toBe(env.SVC_API_KEY)
  })

  test.each([[{}], [{ NODE_OPTIONS: '--require /nowhere.cjs' }]])(
    'if its output is closed or it cannot start (%j)',
    async (more: Record<string, string>) => {
      const child = startSvc(['hook', 'run', 'claude', '--match', 'X'], { ...agent(), ...more })
      child.stdout!.destroy()
      child.stderr!.resume()
      const exit = new Promise((resolve) => child.on('exit', resolve))
      child.stdin!.end(JSON.stringify(inputOf('claude', 'ls')))
      expect(await exit).not.toBe(0)
    },
  )

  test('if the output is full', async () => {
    const line = `${await lineOf('claude', ['--match', 'X'])} > /dev/full`
    const ended = await callHook(line, JSON.stringify(inputOf('claude', 'ls')), agent()).ended
    expect(ended.exit).toBe(2)
  })
})

test('svc hook status finds what would block every call', async () => {
  const line = await lineOf('gemini')
  const rows = async (flags: string[] = [], own: Record<string, string> = agent()) => {
    // In the home folder, the file of a project is the user's own.
    const { exit, stdout } = await svc(['hook', 'status', '-o', 'json', ...flags], own, '', path('home'))
    const all = JSON.parse(stdout) as { name: string; state: string; detail: string }[]
    return { exit, of: (name: string) => all.find((row) => row.name === name) }
  }
  const fine = await rows()
  expect(fine.exit).toBe(0)
  expect(fine.of('gemini')).toMatchObject({
    state: 'ok',
    detail: expect.stringContaining('run_shell_command'),
  })
  expect(fine.of('gemini (project)')).toBe(undefined)
  expect(fine.of('service')).toMatchObject({ state: 'ok' })
  expect(fine.of('key')).toMatchObject({ state: 'ok', detail: 'can only request approvals' })
  const { SVC_ASK_KEY: _, ...without } = agent()
  const strong = await rows([], { ...without, SVC_API_KEY: env.SVC_API_KEY! })
  expect([strong.exit, strong.of('key')?.state]).toEqual([1, 'broken'])
  const down = await rows(['--base-url', 'http://127.0.0.1:1/'])
  expect([down.exit, down.of('service')?.state]).toEqual([1, 'broken'])
  expect(line).toContain('svc-hook')
})
