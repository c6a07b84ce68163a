import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { outcome, startSvc, svc } from './processes.ts'
import { hintOf, typeLine } from './shell.ts'
import { onTerminal } from './terminal.ts'
import {
  requestLine,
  begin,
  decide,
  env,
  installHooks,
  key,
  ok,
  path,
  killService,
  service,
  startAgain,
} from './approvals.ts'

installHooks({ ownProcess: true })

const enter = '\r'
const down = '\u001b[B'

describe('svc approve', () => {
  test('requests in a script, is approved in the inbox, and verifies the receipt with nothing but the keys', async () => {
    const request = begin([
      'approve',
      'request',
      'Deploy 4.2 ✓',
      '--number',
      '--receipt',
      path('receipt.json'),
    ])
    const [, number] = await request.printed(/phone: (\d\d)/)
    const inbox = await onTerminal(['approve', 'inbox', ...key()], env, [
      [/Deploy 4\.2 ✓" \(key "asks"/, enter],
      [/Your decision/, down + enter],
      [/Number that the requester sees/, number! + enter],
      [/Sign the approval of: Deploy 4\.2 ✓\?/, `y${enter}`],
      [/The request is approved[^]*No pending requests/, enter],
    ])
    expect(inbox).toMatchObject({ exit: 0, screen: expect.stringContaining('claimed, not verified') })
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
    expect(await svc([...check, '--org', 'acme'], alone)).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('software key'),
    })
  })

  test('warns that the receipt proves nothing when the requesting key enrolled the device', async () => {
    const request = begin(['approve', 'request', 'Deploy', '--receipt', path('self.json')], {
      SVC_ASK_KEY: '',
    })
    await decide('approve', (await request.printed(requestLine))[1]!)
    expect(await request.ended).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /would not accept the receipt.*the requesting key itself enrolled the device/,
      ),
    })
  })

  test('reports in the inbox that somebody else has decided', async () => {
    const request = begin(['approve', 'request', 'Deploy'])
    const id = (await request.printed(requestLine))[1]!
    const inbox = await onTerminal(['approve', 'inbox', ...key()], env, [
      [/Deploy" \(key "asks"/, enter],
      [/Your decision/, () => decide('deny', id)],
      [/already denied[^]*No pending requests/, enter],
    ])
    expect(inbox.exit).toBe(0)
    expect((await request.ended).exit).toBe(6)
  })

  test('denies on "not me", and blocks the requester for a while', async () => {
    const other = (
      await ok(['key', 'create', '--can', 'all', '--name', 'ci', '--org', 'acme', '--jq', '.key'])
    ).match(/svc_org_[\w-]+/)![0]
    const request = begin(['approve', 'request', 'Deploy', '-o', 'json'], { SVC_API_KEY: other })
    const id = (await request.printed(/\((apr_[\w-]+)\)/))[1]!
    await decide('not-me', id)
    const { exit, stdout } = await request.ended
    expect(JSON.parse(stdout)).toMatchObject({ request_id: id, status: 'denied' })
    expect(exit).toBe(6)
    expect(await svc(['approve', 'request', 'Deploy'], { ...env, SVC_API_KEY: other })).toMatchObject({
      exit: 9,
    })
  })

  test('is denied, also for a script whose reader has closed its end', async () => {
    const request = begin(['approve', 'request', 'Deploy'])
    const id = (await request.printed(requestLine))[1]!
    request.child.stdout!.destroy()
    await decide('deny', id)
    expect((await request.ended).exit).toBe(6)
    for (const format of ['table', 'json']) {
      const wait = startSvc(['approve', 'wait', id, '-o', format], env)
      wait.stdout!.destroy()
      expect([format, (await outcome(wait)).exit]).toEqual([format, 6])
    }
  })

  test('keeps waiting while the service restarts, and says so', async () => {
    const request = begin(['approve', 'request', 'Deploy'])
    const id = (await request.printed(requestLine))[1]!
    await killService()
    await request.printed(/still waiting/)
    await startAgain()
    await request.printed(/Reconnected/)
    await decide('approve', id)
    expect((await request.ended).exit).toBe(0)
  })

  test('prints on Ctrl-C a command that continues to wait', async () => {
    const there = ['--base-url', service.baseUrl]
    const request = begin(['approve', 'request', 'Deploy', ...there])
    const id = (await request.printed(requestLine))[1]!
    request.child.kill('SIGINT')
    const stopped = await request.ended
    expect(stopped).toMatchObject({
      exit: 130,
      stderr: expect.stringContaining(`svc approve withdraw ${id} ${there.join(' ')}`),
    })
    expect((await typeLine(`${hintOf(stopped)} --timeout 1`, env)).exit).toBe(8)
    const wait = typeLine(hintOf(stopped), env)
    await decide('approve', id)
    expect((await wait).exit).toBe(0)
  })

  test('is none any more once it was used, for whoever waits for it then', async () => {
    const request = begin(['approve', 'request', 'Deploy', '-o', 'json'])
    const id = (await request.printed(requestLine))[1]!
    await decide('approve', id)
    const { subject } = JSON.parse((await request.ended).stdout) as { subject: { digest: string } }
    expect((await svc(['approve', 'wait', id], env)).exit).toBe(0)
    const use = `/svc/v1/approvals/${id}/consume`
    const asks = { ...env, SVC_API_KEY: env.SVC_ASK_KEY! }
    expect((await svc(['api', use, '-f', `digest=${subject.digest}`], asks)).exit).toBe(0)
    expect(await svc(['approve', 'wait', id], env)).toMatchObject({
      exit: 7,
      stdout: expect.stringContaining('approved'),
      stderr: expect.stringMatching(/The approval was already used at [^.]*Z; it works once/),
    })
  })
})
