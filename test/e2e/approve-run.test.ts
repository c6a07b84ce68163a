import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { svc } from './processes.ts'
import { startServiceHere } from './service-here.ts'
import {
  requestLine,
  begin,
  decide,
  env,
  installHooks,
  listPending,
  nodeScript,
  ok,
  operator,
  path,
  pending,
  service,
} from './approvals.ts'

installHooks()

const node = (code: string): string[] => ['--', nodeScript(code)]

const keeping = (file: string) =>
  begin(['approve', 'run', '--action', 'Deploy', '--receipt', file, ...node('0')])

describe('svc approve run', () => {
  test('passes the receipt to the command and the exit code to the caller, and leaves no files behind', async () => {
    const code = `const fs = require('fs'), f = process.env.SVC_APPROVAL_RECEIPT
      console.log(JSON.stringify({ file: f, mode: fs.statSync(f).mode & 0o777, id: process.env.SVC_APPROVAL_ID,
        jti: JSON.parse(fs.readFileSync(f)).claims.jti })); process.exit(42)`
    const run = begin(['approve', 'run', '--action', 'Deploy', ...node(code)])
    const id = (await run.printed(requestLine))[1]!
    await decide('approve', id)
    const { exit, stdout } = await run.ended
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({ mode: 0o600, id, jti: id })
    expect(existsSync(seen.file)).toBe(false)
    expect(exit).toBe(42)
  })

  test('saves the receipt at the path of --receipt before the command starts', async () => {
    const kept = path('kept.json')
    const code = `const fs = require('fs'); console.log(process.env.SVC_APPROVAL_RECEIPT, fs.readFileSync('${kept}', 'utf8').length)`
    const run = begin(['approve', 'run', '--action', 'Deploy', '--receipt', kept, ...node(code)])
    await decide('approve', (await run.printed(requestLine))[1]!)
    const { exit, stdout } = await run.ended
    expect([exit, stdout]).toEqual([0, `${kept} ${readFileSync(kept, 'utf8').length}\n`])
    expect(statSync(kept).mode & 0o777).toBe(0o600)
    writeFileSync(path('subject.json'), await ok(['approve', 'list', '--limit', '1', '--jq', '.[0].subject']))
    const verify = ['approve', 'verify', kept, '--allow-dev', '-o', 'json']
    const ofThis = await ok([...verify, '--org', 'acme', '--subject', path('subject.json')])
    expect(JSON.parse(ofThis)).toMatchObject({ valid: true })
    // The action is a claim of the requester, so --action does not prove what the command was.
    expect((await svc([...verify, '--action', 'Deploy'], env)).exit).toBe(1)
  })

  test('requests nothing if the receipt cannot be saved, and saves none after a denial', async () => {
    writeFileSync(path('there.json'), '')
    for (const file of [path('there.json'), path('no/such/folder.json')])
      expect(await keeping(file).ended).toMatchObject({ exit: 102, stderr: expect.stringContaining(file) })
    expect(await listPending()).toEqual([])
    const denied = keeping(path('denied.json'))
    await decide('deny', (await denied.printed(requestLine))[1]!)
    expect((await denied.ended).exit).toBe(106)
    expect(existsSync(path('denied.json'))).toBe(false)
  })

  test('does not run the command after a denial', async () => {
    const run = begin([
      'approve',
      'run',
      '--action',
      'Deploy',
      ...node(`require('fs').writeFileSync('${path('ran')}', '')`),
    ])
    await decide('deny', (await run.printed(requestLine))[1]!)
    expect((await run.ended).exit).toBe(106)
    expect(existsSync(path('ran'))).toBe(false)
  })

  test('withdraws the request when it is interrupted', async () => {
    const run = begin(['approve', 'run', '--action', 'Deploy', ...node('0')])
    const id = (await run.printed(requestLine))[1]!
    run.child.kill('SIGTERM')
    expect((await run.ended).exit).toBe(130)
    expect(await ok(['approve', 'status', id, '--jq', '.status'])).toContain('expired')
  })

  test('forwards signals to the command, waits for it, and exits with its code', async () => {
    const stubborn = `process.on('SIGTERM', () => { console.log('tidying up'); process.exit(5) })
      console.log('ready'); setInterval(() => {}, 1000)`
    const run = begin(['approve', 'run', '--action', 'Deploy', ...node(stubborn)])
    await decide('approve', (await run.printed(requestLine))[1]!)
    await run.printed(/ready/)
    run.child.kill('SIGTERM')
    expect(await run.ended).toMatchObject({ exit: 5, stdout: 'ready\ntidying up\n' })

    const killed = begin([
      'approve',
      'run',
      '--action',
      'Deploy',
      ...node(`process.kill(process.pid, 'SIGKILL')`),
    ])
    await decide('approve', (await killed.printed(requestLine))[1]!)
    expect((await killed.ended).exit).toBe(137)
  })
})

describe('svc approve --mcp', () => {
  test('sends a bearer only to the tool server for which it was tested and saved', async () => {
    const token = 'the-bearer-of-the-tool-server-0123456789'
    const guarded = await startServiceHere(path('guarded'), operator, {
      dev: true,
      env: { MCP_AUTH_TOKEN: token },
    })
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
        stderr: expect.stringContaining('is not sent to'),
      })
    } finally {
      await guarded.stop()
    }
  })

  test('waits for the decision and runs the command without an API key', async () => {
    const mcp = { SVC_API_KEY: '', SVC_MCP_URL: new URL('/mcp', service.baseUrl).href }
    const run = begin(['approve', 'run', '--mcp', '--action', 'Deploy', ...node('process.exit(3)')], mcp)
    await run.printed(/Asked/)
    await decide('approve', (await pending()).request_id)
    expect((await run.ended).exit).toBe(3)

    const request = begin(['approve', 'request', '--mcp', 'Deploy'], mcp)
    await decide('deny', (await request.printed(requestLine))[1]!)
    expect((await request.ended).exit).toBe(6)
  })
})
