import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { quoted } from '../../src/core/shell-quote.ts'
import { hostNames, type HostName } from '../../src/cli/hook/host.ts'
import { json, startFakeHosted } from '../fake-hosted.ts'
import { inputOf, letsRun } from '../hook-hosts.ts'
import { decide, env, installHooks, path, pending, service } from './approvals.ts'
import { callHook, hookProcess, installedLine, withOthers, type Held } from './hook-line.ts'
import { isWhole, rowsToRun } from '../whole.ts'
import { startSvc } from './processes.ts'
import { svcHere } from './prepare.ts'

installHooks()

const agent = () => ({ HOME: path('home'), SVC_CONFIG_DIR: path('agent') })
/** The service, and a key that can only request approvals. */
const way = () => {
  writeFileSync(path('ask.key'), env.SVC_ASK_KEY!, { mode: 0o600 })
  return ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
}
const lineOf = (host: HostName, flags: string[] = []) =>
  installedLine(
    host,
    withOthers(['--to', env.SVC_DEFAULT_MOBILE!, '--org', 'acme', '--timeout', '120', ...way()], flags),
    agent(),
  )
const call = async (
  host: HostName,
  flags: string[] = [],
  variables: Record<string, string> = {},
): Promise<Held> =>
  callHook(await lineOf(host, flags), JSON.stringify(inputOf(host, 'touch /tmp/ran')), {
    ...agent(),
    ...variables,
  })

/** One that reads what the hook prints, and one that reads only its exit code. */
const usual = new Set<HostName>(['claude', 'codex'])

describe.each(rowsToRun(hostNames, (host) => usual.has(host)))('svc hook run %s', (host) => {
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
    expect((await svcHere(['approve', 'status', request_id, '--jq', '.used_at'], env)).stdout).toMatch(/^2/)
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
    expect((await svcHere(['approve', 'status', request_id, '--jq', '.status'], env)).stdout).toBe(
      'expired\n',
    )
  })

  test('if the service does not answer', async () => {
    const ended = await (await call('claude', ['--base-url', 'http://127.0.0.1:1/'])).ended
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('Nothing answers') })
  })

  // It waits for 16 seconds.
  test.runIf(isWhole)('if the service accepts the connection and never answers', async () => {
    const mute = createServer().listen(0, '127.0.0.1')
    await once(mute, 'listening')
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/`
    const ended = await (await call('claude', ['--base-url', url, '--timeout', '1'])).ended
    mute.close()
    expect(ended).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('The service did not answer within 16 seconds: the call did not run'),
    })
  })

  test('a key that can influence who approves', async () => {
    writeFileSync(path('every.key'), env.SVC_API_KEY!, { mode: 0o600 })
    const ended = await (await call('claude', ['--key-file', path('every.key')])).ended
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('can influence who approves') })
    expect(env.SVC_ASK_KEY).not.toBe(env.SVC_API_KEY)
  })

  test('if only a tool server could ask, which cannot use an approval up', async () => {
    const hosted = await startFakeHosted()
    hosted.always(json(404, { status: 'error', message: 'Not found' }))
    const at = ['--profile', 'hosted', '--base-url', hosted.baseUrl, '--org', '1']
    try {
      const mcp = `mcp_url=${new URL('/mcp', service.baseUrl).href}`
      for (const words of [
        ['create', 'hosted', '--base-url', hosted.baseUrl, '--with-key'],
        ['set', 'hosted', mcp],
      ])
        expect(await svcHere(['profile', ...words], agent(), 'a-key')).toMatchObject({ exit: 0 })
      const ended = await (await call('claude', at)).ended
      expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('has no approvals') })
      expect(
        (await svcHere(['approve', 'list', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'id'], env)).stdout,
      ).toBe('')
    } finally {
      await hosted.close()
    }
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

/** How a call ends that the approver denied. */
const afterDenial = async ({ ended }: Held) => {
  await decide('deny', (await pending()).request_id)
  const { exit, stderr } = await ended
  return [exit, stderr]
}
const blocked = [2, expect.stringContaining('Not approved (denied)')]

// Claude Code passes on the variables in the settings of a project, Gemini CLI those in its .env.
describe('svc hook run does not let variables of a project decide', () => {
  test('what its program loads', async () => {
    const own = path('own.cjs')
    writeFileSync(own, "console.log('{}')\nprocess.reallyExit(0)\n")
    expect(await afterDenial(await call('claude', [], { NODE_OPTIONS: `--require ${own}` }))).toEqual(blocked)
  })

  test('which service, key, approver and profile it uses', async () => {
    const right = {
      base_url: service.baseUrl,
      ask_key: env.SVC_ASK_KEY,
      ask_key_origin: new URL(service.baseUrl).origin,
    }
    const wrong = { base_url: 'http://127.0.0.1:1/' }
    mkdirSync(path('agent'), { recursive: true, mode: 0o700 })
    const profiles = { version: 1, current: 'right', profiles: { right, wrong } }
    writeFileSync(path('agent/profiles.json'), JSON.stringify(profiles), { mode: 0o600 })
    const line = await installedLine('claude', ['--to', env.SVC_DEFAULT_MOBILE!, '--org', 'acme'], agent())
    const chosen = {
      HOME: '/nowhere',
      SVC_CONFIG_DIR: '/nowhere',
      SVC_PROFILE: 'wrong',
      SVC_BASE_URL: 'http://127.0.0.1:1/',
      SVC_ASK_KEY: 'another',
      SVC_ORG: 'another',
      HTTP_PROXY: 'http://127.0.0.1:1/',
    }
    expect(await afterDenial(callHook(line, JSON.stringify(inputOf('claude', 'ls')), chosen))).toEqual(
      blocked,
    )
  })

  test('what the shell around it does', async () => {
    const line = await lineOf('claude', ['--base-url', 'http://127.0.0.1:1/'])
    // On many systems, sh is bash, which takes functions from variables.
    const inBash = `bash -c ${quoted(line.replace('/bin/sh', 'exec -a sh /bin/bash'))}`
    const echo = `/usr/bin/env ${quoted('BASH_FUNC_echo%%=() { builtin exit 0; }')}`
    const ended = await callHook(`${echo} ${inBash}`, JSON.stringify(inputOf('claude', 'ls')), agent()).ended
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining('Blocked: no approval was used') })
  })
})
