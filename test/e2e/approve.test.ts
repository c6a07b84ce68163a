import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bin, startService, svc, temporaryFolder, type Ended, type Service } from './processes.ts'
import { onTerminal } from './terminal.ts'

// A person decides in one terminal what was asked in another: the built program against the real service.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const path = (name: string): string => join(folder.path, name)
let service: Service
let env: Record<string, string>
let people = 0

const start = (args: string[] = []): Promise<Service> =>
  startService(path('data'), operator, ['--dev', ...args])
const ok = async (args: string[]): Promise<string> => {
  const { exit, stdout, stderr } = await svc(args, env)
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout
}

beforeAll(async () => {
  service = await start()
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: operator, SVC_CONFIG_DIR: path('config') }
  await ok(['org', 'create', '--name', 'Acme', '--slug', 'acme'])
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

// Somebody new for each test: a phone rings five times in ten minutes and no more.
beforeEach(async () => {
  people += 1
  const mobile = `202555${String(1000 + people)}`
  const name = ['--first-name', 'Ada', '--last-name', 'Lovelace', '--email', `ada${people}@acme.example`]
  const key = path(`approver-${people}.json`)
  await ok(['user', 'create', '--org', 'acme', ...name, '--country-code', '+1', '--mobile', mobile])
  await ok(['user', 'enroll', String(people), '--org', 'acme', '--software', '--file', key])
  env = { ...env, SVC_ORG: 'acme', SVC_DEFAULT_MOBILE: `+1${mobile}` }
})

const key = (): string[] => ['--authenticator', path(`approver-${people}.json`)]
const decide = (decision: string, id: string, ...more: string[]): Promise<string> =>
  ok(['approve', 'inbox', ...key(), `--${decision}`, id, ...more])

const pending = async (): Promise<string> =>
  (await ok(['approve', 'list', '--status', 'pending', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'id'])).trim()

/** A command under way; `said` answers what it has said once that matches. */
const begin = (args: string[], extra: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH, ...env, ...extra } })
  const output: Ended = { exit: null, stdout: '', stderr: '' }
  let looks: (() => void)[] = []
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      for (const look of looks) look()
    })
  const ended = once(child, 'close').then(([exit]): Ended => ({ ...output, exit: exit as number | null }))
  const said = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(output.stderr + output.stdout)
        if (match) resolve(match)
      }
      looks = [...looks, look]
      look()
      void ended.then(() => reject(new Error(`It ended: ${output.stderr}${output.stdout}`)))
    })
  return { child, ended, said }
}
const asked = /Asked .*\((apr_[\w-]+)\)/
const node = (code: string): string[] => ['--', process.execPath, '-e', code]
const enter = '\r'
const down = '\u001b[B'

describe('svc approve', () => {
  test('a person approves in the inbox what a script asks, and the receipt holds where only the keys are', async () => {
    const request = begin([
      'approve',
      'request',
      'Deploy 4.2 ✓',
      '--number',
      '--receipt',
      path('receipt.json'),
    ])
    const [, number] = await request.said(/phone: (\d\d)/)
    const inbox = await onTerminal(['approve', 'inbox', ...key()], env, [
      [/Deploy 4\.2 ✓ \(operator/, enter],
      [/Your decision/, down + enter],
      [/Number that the requester sees/, number! + enter],
      [/Sign the approval of: Deploy 4\.2 ✓\?/, `y${enter}`],
      [/It is approved[^]*Nothing is pending/, enter],
    ])
    expect(inbox).toMatchObject({ exit: 0, screen: expect.stringContaining('as they say themselves') })
    expect(await request.ended).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('status\tapproved'),
    })

    const keys = await fetch(new URL('/.well-known/jwks.json', service.baseUrl))
    writeFileSync(path('keys.json'), await keys.text())
    const alone = {
      SVC_CONFIG_DIR: path('nothing-here'),
      SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api',
    }
    const check = [
      'approve',
      'verify',
      path('receipt.json'),
      '--jwks',
      path('keys.json'),
      '--action',
      'Deploy 4.2 ✓',
    ]
    expect(await svc([...check, '--allow-dev'], alone)).toMatchObject({ exit: 0 })
    expect(await svc(check, alone)).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('software key'),
    })
  })

  test('the inbox says so when somebody else decides first', async () => {
    const request = begin(['approve', 'request', 'Deploy'])
    const id = (await request.said(asked))[1]!
    const inbox = await onTerminal(['approve', 'inbox', ...key()], env, [
      [/Deploy \(operator/, enter],
      [/Your decision/, () => decide('deny', id)],
      [/denied already[^]*Nothing is pending/, enter],
    ])
    expect(inbox.exit).toBe(0)
    expect((await request.ended).exit).toBe(6)
  })

  test('"not me" denies, and the requester may not ask again for a while', async () => {
    const other = (await ok(['key', 'create', '--name', 'ci', '--org', 'acme', '--json', 'key'])).match(
      /svc_org_[\w-]+/,
    )![0]
    const request = begin(['approve', 'request', 'Deploy', '-o', 'ndjson'], { SVC_API_KEY: other })
    const id = (await request.said(/"request_id":"(apr_[\w-]+)"/))[1]!
    await decide('not-me', id)
    const { exit, stdout } = await request.ended
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event),
    ).toEqual(['requested', 'decided'])
    expect(exit).toBe(6)
    expect(await svc(['approve', 'request', 'Deploy'], { ...env, SVC_API_KEY: other })).toMatchObject({
      exit: 9,
    })
  })

  test('a wait survives a restart of the service and says so', async () => {
    const request = begin(['approve', 'request', 'Deploy'])
    const id = (await request.said(asked))[1]!
    await service.stop('SIGKILL')
    await request.said(/still waiting/)
    service = await start(['--port', new URL(service.baseUrl).port])
    await request.said(/Connected again/)
    await decide('approve', id)
    expect((await request.ended).exit).toBe(0)
  })

  test('Ctrl-C says how to go on, and waiting goes on where it ended', async () => {
    const request = begin(['approve', 'request', 'Deploy'])
    const id = (await request.said(asked))[1]!
    request.child.kill('SIGINT')
    expect(await request.ended).toMatchObject({
      exit: 130,
      stderr: expect.stringContaining(`svc approve wait ${id}`),
    })
    expect((await svc(['approve', 'wait', id, '--timeout', '1'], env)).exit).toBe(8)
    const wait = svc(['approve', 'wait', id], env)
    await decide('approve', id)
    expect((await wait).exit).toBe(0)
  })

  test('several waits exit with the worst', async () => {
    const ids = await Promise.all(
      ['one', 'two', 'three'].map(async (action) =>
        (await ok(['approve', 'submit', action, '-o', 'id'])).trim(),
      ),
    )
    const wait = svc(['approve', 'wait', ...ids], env)
    await decide('approve', ids[0]!)
    await decide('deny', ids[1]!)
    await ok(['approve', 'cancel', ids[2]!])
    expect((await wait).exit).toBe(6)
  })
})

describe('svc approve run', () => {
  test('hands the command its receipt, passes its exit code on, and leaves nothing behind', async () => {
    const code = `const fs = require('fs'), f = process.env.SVC_APPROVAL_RECEIPT
      console.log(JSON.stringify({ file: f, mode: fs.statSync(f).mode & 0o777, id: process.env.SVC_APPROVAL_ID,
        jti: JSON.parse(fs.readFileSync(f)).claims.jti })); process.exit(42)`
    const run = begin(['approve', 'run', '--action', 'Deploy', ...node(code)])
    const id = (await run.said(asked))[1]!
    await decide('approve', id)
    const { exit, stdout } = await run.ended
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({ mode: 0o600, id, jti: id })
    expect(existsSync(seen.file)).toBe(false)
    expect(exit).toBe(42)
  })

  test('runs nothing after a no', async () => {
    const run = begin([
      'approve',
      'run',
      '--action',
      'Deploy',
      ...node(`require('fs').writeFileSync('${path('ran')}', '')`),
    ])
    await decide('deny', (await run.said(asked))[1]!)
    expect((await run.ended).exit).toBe(106)
    expect(existsSync(path('ran'))).toBe(false)
  })

  test('withdraws the request when it is interrupted, so that no prompt stays', async () => {
    const run = begin(['approve', 'run', '--action', 'Deploy', ...node('0')])
    const id = (await run.said(asked))[1]!
    run.child.kill('SIGTERM')
    expect((await run.ended).exit).toBe(130)
    expect(await ok(['approve', 'status', id, '--json', 'status'])).toContain('expired')
  })

  test('passes signals to the command, waits for its end, and tells how it ended', async () => {
    const stubborn = `process.on('SIGTERM', () => { console.log('tidying up'); process.exit(5) })
      console.log('ready'); setInterval(() => {}, 1000)`
    const run = begin(['approve', 'run', '--action', 'Deploy', ...node(stubborn)])
    await decide('approve', (await run.said(asked))[1]!)
    await run.said(/ready/)
    run.child.kill('SIGTERM')
    expect(await run.ended).toMatchObject({ exit: 5, stdout: 'ready\ntidying up\n' })

    const killed = begin([
      'approve',
      'run',
      '--action',
      'Deploy',
      ...node(`process.kill(process.pid, 'SIGKILL')`),
    ])
    await decide('approve', (await killed.said(asked))[1]!)
    expect((await killed.ended).exit).toBe(137)
  })
})

describe('svc approve --mcp', () => {
  test('asks through a tool server, with a bearer that was tried and saved for that address alone', async () => {
    const token = 'the-bearer-of-the-tool-server-0123456789'
    const guarded = await startService(path('guarded'), operator, ['--dev'], { MCP_AUTH_TOKEN: token })
    const there = { SVC_CONFIG_DIR: path('mcp'), SVC_MCP_URL: new URL('/mcp', guarded.baseUrl).href }
    try {
      const tools = ['approve', 'tools', '-o', 'json', '--jq', '.[].name']
      expect(await svc(tools, there)).toMatchObject({ exit: 4 })
      const login = ['profile', 'login', '--bearer', '--with-key']
      expect(await svc(login, there, 'another')).toMatchObject({ exit: 4 })
      expect(await svc(login, there, `${token}\n`)).toMatchObject({ exit: 0 })
      expect((await svc(tools, there)).stdout).toContain('request_approval\n')
      const elsewhere = { ...there, SVC_MCP_URL: new URL('/mcp', service.baseUrl).href }
      expect(await svc(tools, elsewhere)).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('does not go to'),
      })
    } finally {
      await guarded.stop()
    }
  })

  test('waits, runs a command on a verified yes, and needs no API key', async () => {
    const mcp = { SVC_API_KEY: '', SVC_MCP_URL: new URL('/mcp', service.baseUrl).href }
    const run = begin(['approve', 'run', '--mcp', '--action', 'Deploy', ...node('process.exit(3)')], mcp)
    await run.said(/Asked/)
    let id = ''
    while (id === '') id = await pending()
    await decide('approve', id)
    expect((await run.ended).exit).toBe(3)

    const request = begin(['approve', 'request', '--mcp', 'Deploy'], mcp)
    await decide('deny', (await request.said(asked))[1]!)
    expect((await request.ended).exit).toBe(6)
  })
})

describe('svc user enroll --software', () => {
  test('makes a file for its owner alone, and no second one over it', async () => {
    const file = path(`approver-${people}.json`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const before = readFileSync(file, 'utf8')
    const again = await svc(['user', 'enroll', String(people), '--software', '--file', file], env)
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('stays as it is') })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('signs with Ed25519 too, and with nothing that was revoked', async () => {
    const file = path('eddsa.json')
    const made = await ok([
      'user',
      'enroll',
      String(people),
      '--software',
      '--algorithm',
      'EdDSA',
      '--file',
      file,
      '-o',
      'id',
    ])
    const yes = (await ok(['approve', 'submit', 'one', '-o', 'id'])).trim()
    await ok(['approve', 'inbox', '--authenticator', file, '--approve', yes])
    await ok(['user', 'devices', 'revoke', made.trim(), '--org', 'acme', '--yes'])
    const no = (await ok(['approve', 'submit', 'two', '-o', 'id'])).trim()
    const refused = await svc(['approve', 'inbox', '--authenticator', file, '--approve', no], env)
    expect(refused).toMatchObject({ exit: 4, stderr: expect.stringContaining('may not decide') })
  })

  test('is refused by a service that is not for development, and leaves no file', async () => {
    const strict = await startService(path('strict'), operator)
    try {
      const there = { ...env, SVC_BASE_URL: strict.baseUrl }
      const name = ['--first-name', 'Ada', '--last-name', 'L', '--email', 'ada@acme.example']
      await svc(['org', 'create', '--name', 'Acme', '--slug', 'acme'], there)
      await svc(['user', 'create', ...name, '--country-code', '+1', '--mobile', '2025550101'], there)
      const refused = await svc(['user', 'enroll', '1', '--software', '--file', path('strict.json')], there)
      expect(refused).toMatchObject({ exit: 4, stderr: expect.stringContaining('--dev') })
      expect(existsSync(path('strict.json'))).toBe(false)
    } finally {
      await strict.stop()
    }
  })
})
