import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hosts, type HostName } from '../../src/cli/hook/host.ts'
import { onTimeout } from '../../src/cli/hook/on-timeout.ts'
import { decide, env, installHooks, path, pending, service } from '../e2e/approvals.ts'
import { hookProcess, installedLine, withOthers } from '../e2e/hook-line.ts'
import { outcome, svc, type Ended } from '../e2e/processes.ts'
import { findProgram } from './find-program.ts'
import { real } from './real-hosts.ts'
import { startModel, type ScriptedCall } from './scripted-model.ts'

// The real hosts, with a model on loopback that calls the shell once. They are large and not in package.json: a host is tested
// if its program is in the PATH. `npm install --global @openai/codex` is one way to get there.

installHooks()

const home = (): string => path('home')
const ran = (): string => path('ran')
const agent = () => ({ HOME: home(), SVC_CONFIG_DIR: path('agent') })

let stop = (): void => undefined
afterEach(() => stop())

/** Ends a process, if it still exists. */
const killed = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

type Starting = {
  flags?: string[]
  command?: ScriptedCall
  inProject?: [file: string, text: string]
  /** How long the host waits for the hook. */
  seconds?: number
}

/** Starts a host whose model calls the shell once. `told` is what the model was told about the call. */
const start = async (
  host: HostName,
  { flags = [], command = `touch ${ran()}`, inProject, seconds }: Starting = {},
) => {
  const { args, env: own, settings } = real[host]!
  for (const folder of [home(), ran(), path('work')]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(path('work'), { recursive: true })
  if (inProject) {
    mkdirSync(dirname(path(`work/${inProject[0]}`)), { recursive: true })
    writeFileSync(path(`work/${inProject[0]}`), inProject[1])
  }
  const file = hosts[host].files(agent(), '').user!
  mkdirSync(join(file, '..'), { recursive: true })
  if (settings) writeFileSync(file, JSON.stringify(settings))
  writeFileSync(path('ask.key'), env.SVC_ASK_KEY!, { mode: 0o600 })
  const way = ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
  await installedLine(
    host,
    withOthers(['--to', env.SVC_DEFAULT_MOBILE!, '--org', 'acme', '--timeout', '120', ...way], flags),
    agent(),
  )
  if (seconds !== undefined) {
    const time = host === 'gemini' ? seconds * 1000 : seconds
    writeFileSync(file, readFileSync(file, 'utf8').replace(/("timeout(?:Sec)?": )\d+/, `$1${time}`))
  }
  const model = await startModel(command)
  const child: ChildProcess = spawn(findProgram(host)!, args(model.url), {
    cwd: path('work'),
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'dumb', CI: '1', ...agent(), ...own(model.url) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  stop = () => {
    child.kill('SIGKILL')
    model.close()
  }
  const ended: Promise<Ended> = outcome(child)
  return { child, ended, told: () => model.requests.at(-1)!.text }
}

const found = (Object.keys(real) as HostName[]).filter((host) => findProgram(host) !== undefined)

test('the hosts without a program here are the ones that are not tested', () => {
  expect(found.every((host) => existsSync(findProgram(host)!))).toBe(true)
})

describe.each(found)('the real %s', (host) => {
  beforeAll(async () => {
    // It unpacks itself at its first start.
    await outcome(spawn(findProgram(host)!, ['--version'], { env: { PATH: process.env.PATH, HOME: home() } }))
  })

  test('runs the command after an approval', async () => {
    const { ended } = await start(host)
    await decide('approve', (await pending()).request_id)
    expect(await ended).toMatchObject({ exit: 0 })
    expect(existsSync(ran())).toBe(true)
  })

  test('runs nothing after a denial, and tells the model why', async () => {
    const { ended, told } = await start(host)
    await decide('deny', (await pending()).request_id)
    await ended
    expect(existsSync(ran())).toBe(false)
    expect(told()).toContain('Not approved (denied): the call did not run')
  })

  test('runs nothing without a decision', async () => {
    const { ended, told } = await start(host, { flags: ['--timeout', '1'] })
    await ended
    expect(existsSync(ran())).toBe(false)
    expect(told()).toContain('Not approved (expired)')
  })

  test('runs nothing if the service is down', async () => {
    const { ended, told } = await start(host, { flags: ['--base-url', 'http://127.0.0.1:1/'] })
    await ended
    expect(existsSync(ran())).toBe(false)
    expect(told()).toContain('Nothing answers at 127.0.0.1:1')
  })

  test('runs nothing if the hook is killed', async () => {
    const { child, ended } = await start(host)
    await pending()
    process.kill(hookProcess(child.pid!), 'SIGKILL')
    await ended
    expect(existsSync(ran())).toBe(false)
  })

  test('does on a time-out of the hook what svc says of its version', async () => {
    const { child, ended } = await start(host, { flags: ['--timeout', '1'], seconds: 20 })
    await pending()
    const hook = hookProcess(child.pid!)
    process.kill(hook, 'SIGSTOP')
    // Gemini CLI waits for the stopped process, too. Copilot CLI has killed it.
    const killing = setTimeout(() => killed(hook), 30_000)
    await ended
    clearTimeout(killing)
    killed(hook)
    const { state } = await onTimeout(hosts[host], { env: { ...process.env, HOME: home() } })
    expect([state, existsSync(ran())]).toEqual([state === 'ok' ? 'ok' : 'open', state !== 'ok'])
  })

  test('runs nothing if the key of the hook is gone', async () => {
    const { ended } = await start(host, { flags: ['--key-file', path('gone.key')] })
    await ended
    expect(existsSync(ran())).toBe(false)
  })

  test('runs nothing if the call is too large to show', async () => {
    const { ended, told } = await start(host, { command: `touch ${ran()} # ${'x'.repeat(40_000)}` })
    await ended
    expect(existsSync(ran())).toBe(false)
    expect(told()).toContain('cannot be shown to a person')
  })

  test.runIf(real[host]!.variable)(
    'runs nothing if a project makes the hook load code',
    async () => {
      const code = path('code.cjs')
      writeFileSync(code, "if (process.argv.includes('hook')) { console.log('{}'); process.reallyExit(0) }\n")
      const variable = real[host]!.variable!('NODE_OPTIONS', `--require ${code}`)
      const { ended, told } = await start(host, { flags: ['--timeout', '1'], inProject: variable })
      await ended
      expect(existsSync(ran())).toBe(false)
      expect(told()).toContain('Not approved (expired)')
    },
    60_000,
  )

  test('runs what the hook does not hold', async () => {
    const { ended } = await start(host, { flags: ['--match', 'another_tool'] })
    await ended
    expect(existsSync(ran())).toBe(true)
    expect(
      (
        await svc(
          ['approve', 'list', '--status', 'pending', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'id'],
          env,
        )
      ).stdout,
    ).toBe('')
  })
})

describe.runIf(found.includes('claude'))('a skill of the real claude', () => {
  test('runs no command that the model writes into its arguments', async () => {
    const call = { tool: 'Skill', input: { skill: 'show', args: `1; touch ${ran()}` } }
    const text = '---\nname: show\ndescription: Shows it\n---\n!`echo $ARGUMENTS`\n'
    const inProject: [file: string, text: string] = ['.claude/skills/show/SKILL.md', text]
    const { ended, told } = await start('claude', { command: call, inProject })
    await ended
    expect(told()).toContain('shell command execution disabled')
    expect(existsSync(ran())).toBe(false)
  })
})
