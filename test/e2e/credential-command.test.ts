import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { svc, type Ended } from './processes.ts'
import { env, folder, installHooks, ok, operator, service } from './profile-folder.ts'

installHooks()

const isRunning = (pid: string): boolean =>
  existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')

describe('a credential command', () => {
  const keyFile = join(folder.path, 'key')
  const script = join(folder.path, 'print-key')
  const use = async (body: string): Promise<Ended> => {
    writeFileSync(script, `#!/bin/sh\n${body}\n`)
    chmodSync(script, 0o700)
    return svc(['org', 'list', '-p', 'cmd'], env)
  }
  beforeAll(async () => {
    writeFileSync(keyFile, `${operator}\n`, { mode: 0o600 })
    await ok(['profile', 'create', 'cmd', '--base-url', service.baseUrl, '--credential-command', script])
  })

  test('prints the key that svc uses', async () => {
    expect(await use(`cat ${keyFile}`)).toMatchObject({ exit: 0, stderr: '' })
  })
  test('is the program that was saved, not one of the same name in the current folder', async () => {
    const [mine, theirs] = ['mine', 'theirs'].map((name) => join(folder.path, name))
    for (const [dir, body] of [
      [mine!, `cat ${keyFile}`],
      [theirs!, `touch ${join(folder.path, 'run-by-theirs')}; cat ${keyFile}`],
    ] as const) {
      mkdirSync(dir)
      writeFileSync(join(dir, 'print-key'), `#!/bin/sh\n${body}\n`, { mode: 0o700 })
      writeFileSync(join(dir, 'key'), `${operator}\n`)
    }
    const add = ['profile', 'create', 'near', '--base-url', service.baseUrl, '--credential-command']
    expect((await svc([...add, './print-key'], env, '', mine)).exit).toBe(0)
    expect(await svc(['org', 'list', '-p', 'near'], env, '', theirs)).toMatchObject({ exit: 0 })
    expect(existsSync(join(folder.path, 'run-by-theirs'))).toBe(false)
    // The command does not read its files from the current folder either.
    await ok(['profile', 'set', 'near', 'credential_command=cat key'])
    const { exit, stderr } = await svc(['org', 'list', '-p', 'near'], env, '', theirs)
    expect([exit, stderr]).toEqual([1, expect.stringContaining(`runs in ${env.SVC_CONFIG_DIR}`)])
  })
  test('is killed with its child processes after five seconds, and named in the error', async () => {
    const pids = join(folder.path, 'pids')
    const started = performance.now()
    const { exit, stderr } = await use(`sleep 300 & echo $! > ${pids}; sleep 300`)
    expect(exit).toBe(1)
    expect(performance.now() - started).toBeLessThan(15_000)
    expect(stderr).toMatch(
      /credential command of profile "cmd", .*print-key, did not finish within 5 seconds/,
    )
    const pid = readFileSync(pids, 'utf8').trim()
    await expect.poll(() => isRunning(pid)).toBe(false)
  })
  test('shows the last line of its error output without control characters, and a hint', async () => {
    const { exit, stderr } = await use(String.raw`printf 'locked \033[31m\n' >&2; exit 2`)
    expect(exit).toBe(1)
    expect(stderr).toContain('It printed: locked \\u{001b}[31m')
    expect(stderr).toContain("svc profile set cmd credential_command='…'")
  })
})
