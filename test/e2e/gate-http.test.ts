import { chmodSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ada, path, requests, factorsFor } from './gate-run.ts'
import { svcHere } from './prepare.ts'
import {
  calls,
  cert,
  envelope,
  installHooks,
  lists,
  received,
  server,
  start,
  url,
  urls,
} from './gate-http-server.ts'

installHooks()

describe('svc mcp gate --url', () => {
  test('sends the exact bytes of an approved call once, with its headers and in its session', async () => {
    const gate = await start()
    const line =
      '{"jsonrpc":"2.0", "id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"n":1.50,"t":"\\u006f"}}}'
    gate.write(line)
    await ada.waitForRequest()
    expect(calls()).toEqual([])
    await ada.answer()
    expect((await gate.answer(7)).result.content[0].text).toBe('done')
    expect(calls()).toMatchObject([
      {
        body: line,
        headers: {
          authorization: 'Bearer of-the-server',
          'mcp-session-id': 'session-1',
          'mcp-protocol-version': '2025-11-25',
        },
      },
    ])
    expect((await gate.close()).exit).toBe(0)
    expect(received.at(-1)!.method).toBe('DELETE')
  })

  test('sends nothing of a denied call, and what a rule lets pass at once', async () => {
    const gate = await start()
    gate.call(1, 'write_file')
    gate.call(2, 'read_file')
    expect((await gate.answer(2)).result.content[0].text).toBe('done')
    await ada.answer({ decision: 'deny' })
    expect((await gate.answer(1)).result.isError).toBe(true)
    expect(calls()).toHaveLength(1)
    await gate.close()
  })

  test('says that the outcome is unknown when the server ends in the middle of a call, and does not repeat it', async () => {
    const gate = await start()
    gate.call(1, 'read_file')
    await gate.answer(1)
    gate.call(2, 'write_file')
    await ada.waitForRequest()
    server.dies = true
    await ada.answer()
    expect((await gate.answer(2)).error.message).toContain('It is not known whether it was carried out')
    expect(calls()).toHaveLength(2)
    await gate.close()
  })

  test('follows no redirect, and answers the call with an error', async () => {
    const gate = await start()
    gate.call(1, 'read_file')
    await gate.answer(1)
    server.redirects = true
    gate.call(2, 'read_file')
    expect((await gate.answer(2)).error.message).toContain(
      'answered with a redirect, which svc does not follow. It is not known whether it was carried out',
    )
    expect(calls()).toHaveLength(2)
    await gate.close()
    expect(await requests('pending')).toEqual([])
  })

  test('says what a server answered that did not answer with a message', async () => {
    const gate = await start()
    const host = new URL(url).host
    const answers: [number, string, string, string][] = [
      [
        500,
        'text/plain',
        'the disk is full\u001b[2J',
        `${host} answered with HTTP 500: the disk is full\\u{001b}[2J. It is not`,
      ],
      [502, 'text/html', '<html>Bad gateway</html>', `${host} answered with HTTP 502. It is not known`],
      [401, 'text/plain', '', `${host} answered with HTTP 401. It is not known`],
      [
        200,
        'text/html',
        '<html>Sign in</html>',
        `${host} answered with text/html instead of a message. It is not`,
      ],
      [
        200,
        'application/json',
        'nonsense',
        `${host} answered with something that is not a message. It is not`,
      ],
    ]
    for (const [at, [status, type, body, text]] of answers.entries()) {
      server.otherAnswer = { status, type, body }
      gate.call(at + 1, 'read_file')
      expect((await gate.answer(at + 1)).error.message).toContain(text)
    }
    await gate.close()
  })

  test('repeats the arguments in headers that the tool asks for, in the revision of 2026', async () => {
    const gate = await start()
    gate.call(1, 'move_file', { to: 'Zürich', name: 'x' }, envelope)
    await ada.answer()
    expect((await gate.answer(1)).result.content[0].text).toBe('done')
    gate.call(2, 'move_file', { to: 'Zürich', name: 'x' })
    await ada.answer()
    await gate.answer(2)
    const before = lists()
    const error = { code: -32020, message: 'Header mismatch' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 3, error })
    server.otherAnswer = { status: 400, type: 'application/json', body }
    gate.call(3, 'read_file', {}, envelope)
    expect((await gate.answer(3)).error).toEqual(error)
    server.otherAnswer = undefined
    gate.call(4, 'read_file', {}, envelope)
    await gate.answer(4)
    expect(lists()).toBe(before + 1)
    const [modern, older] = calls().map(({ headers }) => headers)
    expect(modern).toMatchObject({ 'mcp-name': 'move_file', 'mcp-param-to': '=?base64?WsO8cmljaA==?=' })
    expect(older).not.toHaveProperty('mcp-param-to')
    await gate.close()
  })

  test('trusts the certificate authority of --server-cacert', async () => {
    writeFileSync(path('ca.pem'), cert)
    const gate = await start(urls.https, '--server-cacert', path('ca.pem'))
    gate.call(1, 'read_file')
    expect((await gate.answer(1)).result.content[0].text).toBe('done')
    expect(await gate.close()).toMatchObject({ exit: 0 })

    const untrusting = await start(urls.https)
    expect((await untrusting.answer('init')).error.message).toContain(
      'did not answer: self-signed certificate',
    )
    await untrusting.close()
    expect(untrusting.log()).toContain(
      'self-signed certificate. For a private certificate authority: --server-cacert',
    )
    expect(received).toEqual([])
  })

  test('refuses an address or a header file that would reveal credentials', async () => {
    const rules = path('rules.yaml')
    writeFileSync(rules, factorsFor(ada.mobile))
    const gate = (...args: string[]) =>
      svcHere(['mcp', 'gate', '--rules', rules, ...args], { SVC_CONFIG_DIR: path('config') })
    writeFileSync(path('open'), 'Authorization: Bearer secret-1\n')
    chmodSync(path('open'), 0o644)
    writeFileSync(path('odd'), 'secret-2\n', { mode: 0o600 })
    const bad: [string[], string][] = [
      [['--url', 'http://example.com/mcp'], 'must start with https://'],
      [['--url', 'https://user:secret-3@example.com/mcp'], 'must not contain a user name'],
      [['--url', 'nonsense'], '--url is not a valid address: "nonsense"'],
      [['--url', url, '--header-file', path('open')], 'Others can read'],
      [['--url', url, '--header-file', path('odd')], 'line 1 of'],
      [['--url', url, '--server-cacert', path('odd')], '--server-cacert is only for --url with https://'],
      [['--url', 'https://127.0.0.1:1/', '--server-cacert', path('none')], '--server-cacert'],
      [['--url', url, '--env', 'HOME'], '--env is only for a server that svc starts'],
      [['--url', url, '--', 'node'], 'Name one server'],
      [[], 'Name one server'],
      [['--env', 'API_TOKEN=secret-4', '--', 'node'], '--env API_TOKEN'],
      [['--env', 'SVC_API_KEY', '--', 'node'], 'a credential or setting of svc'],
      [['-o', 'json', '--', 'node'], '-o is only for --check'],
    ]
    for (const [args, part] of bad) {
      const { exit, stdout, stderr } = await gate(...args)
      expect([exit === 0, stdout, stderr]).toEqual([false, '', expect.stringContaining(part)])
      expect(stderr).not.toContain('secret-')
    }
  })
})
