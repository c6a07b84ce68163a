import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Globals } from '../../../src/cli/terminal/io.ts'
import type { Profile } from '../../../src/cli/context/profile-store.ts'
import { createSettings } from '../../../src/cli/context/settings.ts'
import { memoryIo } from '../memory-io.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { machine } from '../../machine.ts'

let dir: string
let remove: () => void
beforeEach(() => {
  ;({ path: dir, remove } = temporaryFolder())
})
afterEach(() => remove())

type Given = { globals?: Globals; env?: Record<string, string>; profile?: Profile; stdin?: string }
const settingsOf = ({ globals = {}, env, profile = {}, stdin }: Given) =>
  createSettings(
    { io: memoryIo({ env: { ...machine, SVC_CONFIG_DIR: dir, ...env }, stdin, cwd: dir }), globals },
    { version: 1, current: 'p', profiles: { p: profile } },
  )
const keyFor = (url: string, given: Given) => settingsOf(given).apiKey(url)
const bearerFor = (url: string, given: Given) => settingsOf(given).bearer(url)

const here = 'http://127.0.0.1:8080/admin/public/api'
const saved = { api_key: 'saved', api_key_origin: 'http://127.0.0.1:8080' }
const command = (script: string): string[] => [process.execPath, '-e', script]

describe('the source of the API key', () => {
  test('is the file, then SVC_API_KEY, then the command, then the saved key', async () => {
    writeFileSync(join(dir, 'key.txt'), 'in-file\n')
    const all = { ...saved, credential_command: command('console.log("printed")') }
    const env = { SVC_API_KEY: 'in-env' }
    expect(await keyFor(here, { globals: { keyFile: 'key.txt' }, env, profile: all })).toBe('in-file')
    expect(await keyFor(here, { globals: { keyFile: '-' }, env, profile: all, stdin: 'piped\r\n' })).toBe(
      'piped',
    )
    expect(await keyFor(here, { env, profile: all })).toBe('in-env')
    expect(await keyFor(here, { env: { SVC_API_KEY: '' }, profile: all })).toBe('printed')
    expect(await keyFor(here, { profile: saved })).toBe('saved')
    expect(await keyFor(here, {})).toBeUndefined()
  })
  test('is named if it is a file that cannot be read', async () => {
    await expect(keyFor(here, { globals: { keyFile: 'none.txt' } })).rejects.toMatchObject({
      exit: 'usage',
      message: '--key-file: cannot read the file none.txt: it does not exist',
    })
  })
  for (const bad of ['a b', 'a\r\nx-evil: 1', 'ключ', 'a\u0000', 'a\tb', 'x'.repeat(5000)])
    test(`rejects ${JSON.stringify(bad.slice(0, 20))} and does not repeat it`, async () => {
      const error = await keyFor(here, { env: { SVC_API_KEY: bad } }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ exit: 'usage', code: 'bad_key' })
      expect(JSON.stringify(error) + String(error)).not.toContain(bad)
    })
})

describe('the destination of the API key', () => {
  for (const url of [
    'http://127.0.0.1:8081/admin/public/api',
    'https://127.0.0.1:8080/admin/public/api',
    'http://localhost:8080/admin/public/api',
    'https://evil.example/admin/public/api',
    'http://127.0.0.1.evil.example:8080/',
  ])
    test(`a saved key is not sent to ${url}`, async () => {
      const all = { base_url: here, credential_command: command('console.log("printed")') }
      for (const profile of [saved, all, { api_key: 'saved' }])
        await expect(keyFor(url, { profile })).rejects.toMatchObject({ exit: 'usage', code: 'key_origin' })
    })
  for (const url of [
    'http://host.example/',
    'http://127.0.0.1.evil.example/',
    'http://[::2]/',
    'http://10.0.0.1/',
  ])
    test(`no key is sent to ${url}`, async () => {
      await expect(keyFor(url, { env: { SVC_API_KEY: 'k' } })).rejects.toMatchObject({ code: 'insecure_url' })
    })
  for (const url of ['https://host.example/', 'http://localhost:1/', 'http://[::1]:1/', 'http://127.9.9.9/'])
    test(`a key from the environment is sent to ${url}`, async () => {
      expect(await keyFor(url, { env: { SVC_API_KEY: 'k' } })).toBe('k')
    })
})

const failing = (script: string) => keyFor(here, { profile: { credential_command: command(script) } })

describe('the credential command', () => {
  test('reports its exit code and its last output, escaped, if it fails', async () => {
    await expect(
      failing('console.error("first\\nno such \\u001b[31mentry"); process.exit(3)'),
    ).rejects.toMatchObject({
      code: 'credential_command',
      message: expect.stringContaining('ended with exit code 3'),
      detail: 'It printed: no such \\u{001b}[31mentry',
    })
  })
  test('is named if it does not exist', async () => {
    await expect(
      keyFor(here, { profile: { credential_command: ['no-such-program'] } }),
    ).rejects.toMatchObject({
      message: 'The credential command of profile "p", no-such-program, was not found',
      hint: expect.stringContaining("svc profile set p credential_command='…'"),
    })
  })
  test('runs without a shell', async () => {
    const profile = { credential_command: [...command('console.log(process.argv[1])'), '$HOME;id'] }
    expect(await keyFor(here, { profile })).toBe('$HOME;id')
  })
  for (const [what, script, message] of [
    ['two lines', 'console.log("hushhush\\nb")', /printed several lines/],
    ['nothing', '', /printed nothing/],
    ['a web page', 'console.log("<html> hushhush")', /printed a space, a control/],
    ['a control character', 'console.log("hushhush\\u001b[31m")', /printed a space, a control/],
    ['a long text', 'console.log("hushhush".repeat(1000))', /more than 4,096 characters/],
  ] as const)
    test(`is rejected if it prints ${what}, and named with its profile`, async () => {
      const error = await failing(script).then(
        () => undefined,
        (one: Error) => one,
      )
      expect(error).toMatchObject({ code: 'credential_command', message: expect.stringMatching(message) })
      expect(error?.message).toMatch(/profile "p"/)
      expect(error?.message).not.toContain('hushhush')
    })
  test('is stopped if it prints without end', async () => {
    await expect(failing('for(;;) require("fs").writeSync(1, "x".repeat(65536))')).rejects.toMatchObject({
      message: expect.stringContaining('printed more than 64 KiB'),
    })
  })
  test('is killed with its child processes if it hangs', async () => {
    const pidFile = join(dir, 'pid')
    const child = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`
    const script = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], {stdio:'inherit'}); setInterval(() => {}, 1000)`
    await expect(failing(script)).rejects.toMatchObject({
      message: expect.stringContaining('did not finish within 5 seconds'),
    })
    expect(existsSync(pidFile)).toBe(true)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    await expect.poll(() => isRunning(pid)).toBe(false)
  })
})

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

describe('the bearer of the tool server', () => {
  const mcp = 'https://host.example/mcp'
  const kept = { mcp_token: 'kept', mcp_token_origin: 'https://host.example' }

  test('is MCP_AUTH_TOKEN, then that of the profile, and never the API key', async () => {
    const env = { SVC_API_KEY: 'the-key', MCP_AUTH_TOKEN: 'in-env' }
    expect(await bearerFor(mcp, { env, profile: { ...saved, ...kept } })).toBe('in-env')
    expect(await bearerFor(mcp, { env: { SVC_API_KEY: 'the-key' }, profile: { ...saved, ...kept } })).toBe(
      'kept',
    )
    expect(await bearerFor(mcp, { env: { SVC_API_KEY: 'the-key' }, profile: saved })).toBeUndefined()
    expect(await keyFor(here, { env: { MCP_AUTH_TOKEN: 'in-env' }, profile: kept })).toBeUndefined()
  })
  test.each([
    [{ profile: kept }, 'https://evil.example/mcp', 'key_origin'],
    [{ profile: kept }, 'https://host.example:8443/mcp', 'key_origin'],
    [{ profile: { mcp_token: 'of-nowhere' } }, mcp, 'key_origin'],
    [{ env: { MCP_AUTH_TOKEN: 'in-env' } }, 'http://host.example/mcp', 'insecure_url'],
    [{ env: { MCP_AUTH_TOKEN: 'in env' } }, mcp, 'bad_key'],
  ])('%j is not sent to %s: %s', async (given, url, code) => {
    const error = await bearerFor(url, given).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ exit: 'usage', code, message: expect.stringContaining('bearer') })
  })
})
