import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { begin, decide, env, installHooks, key, ok, path, people, requestLine, service } from './approvals.ts'
import { outcome, startSvc } from './processes.ts'
import { svcHere } from './prepare.ts'

// A person signs in on a terminal. The key file plays the browser and the phone.

installHooks()

const own = () => ({ SVC_CONFIG_DIR: path(`of-${people}`) })
const login = (more: string[] = [], name = 'mine') =>
  svcHere(['profile', 'login', name, '--base-url', service.baseUrl, ...more], own())
const as = (args: string[], name = 'mine') => svcHere([...args, '--profile', name], own())
const administer = () => ok(['user', 'make-admin', String(people), '--org', 'acme', '--yes'])

describe('svc profile login', () => {
  test('signs a person in, who asks and manages, until they sign out', async () => {
    await administer()
    const signedIn = await login(key())
    expect([signedIn.exit, signedIn.stdout]).toEqual([0, expect.stringContaining('can ask and manage')])
    expect(signedIn.stdout).toMatch(
      new RegExp(`Signed in to acme as Ada Lovelace \\(user ${people}\\) until 2[-:T\\d]+Z; `),
    )
    expect((await as(['user', 'list', '-o', 'id'])).stdout.split('\n')).toContain(String(people))
    const submitted = await as(['approve', 'submit', 'Deploy 4.2', '--to', env.SVC_DEFAULT_MOBILE!])
    expect(submitted.exit).toBe(0)
    expect((await as(['profile', 'logout'])).exit).toBe(0)
    expect((await as(['user', 'list'])).exit).toBe(4)
    expect((await as(['profile', 'logout'])).stderr).toContain('Nobody is signed in to profile "mine"')
  })

  test('renews the keys of the profile: a request of before is still its own', async () => {
    await login(key())
    const submitted = [
      'approve',
      'submit',
      'Deploy 4.2',
      '--to',
      env.SVC_DEFAULT_MOBILE!,
      '--jq',
      '.request_id',
    ]
    const id = (await as(submitted)).stdout.trim()
    expect((await login(key())).exit).toBe(0)
    await ok(['approve', 'inbox', ...key(), '--approve', id])
    expect((await as(['approve', 'wait', id])).exit).toBe(0)
  })

  test('a renewal in another terminal does not end what waits', async () => {
    await login(key())
    const to = ['--to', env.SVC_DEFAULT_MOBILE!, '--profile', 'mine']
    const waits = begin(['approve', 'request', 'Deploy 4.3', ...to], {
      ...own(),
      SVC_API_KEY: '',
      SVC_ASK_KEY: '',
    })
    const [, id = ''] = await waits.printed(requestLine)
    await waits.printed(/Waiting/)
    expect((await login(key())).exit).toBe(0)
    // Ends a poll with the former key.
    await decide('approve', id)
    const { exit, stderr } = await waits.ended
    expect([exit, stderr]).toEqual([0, expect.stringContaining('Approved by')])
  })

  test('a member only asks, and gets an ask key alone', async () => {
    expect((await login(key())).stdout).toContain('can ask')
    expect(
      (await as(['profile', 'show', '--jq', '[has("ask_key"), has("api_key")] | tostring'])).stdout.trim(),
    ).toBe('[true,false]')
  })

  test('replaces no key that somebody saved', async () => {
    writeFileSync(path('some.key'), env.SVC_ASK_KEY!, { mode: 0o600 })
    await login(['--with-key', '--key-file', path('some.key')], 'saved')
    const before = readFileSync(path(`of-${people}/profiles.json`), 'utf8')
    const refused = await login(key(), 'saved')
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining('Profile "saved" has its own key'),
    ])
    expect(readFileSync(path(`of-${people}/profiles.json`), 'utf8')).toBe(before)
  })

  test.each([
    [['--can', 'app'], '--can: "app" is not something that a sign-in gives'],
    [['--can', 'ask', '--ask'], '--can is for signing in'],
    [['--device', '--ask'], '--device is for signing in'],
    [['--device', '--authenticator', 'x'], '--device cannot be combined with --authenticator'],
    [[], 'Signing in requires a terminal and a browser'],
  ])('says what is wrong with %j', async (more, problem) => {
    const { exit, stderr } = await login(more)
    expect([exit, stderr]).toEqual([2, expect.stringContaining(problem)])
  })

  test.each([
    ['svc.example.com', 'https://svc.example.com/authorize'],
    ['', 'file:///bin/sh'],
    ['', 'https://other.example/authorize'],
  ])('does not follow a service that names another one: %j, %j', async (host, authorization_endpoint) => {
    const other = createServer((request, response) => {
      const issuer = host === '' ? `http://${request.headers.host}` : `https://${host}`
      response.end(JSON.stringify({ issuer, authorization_endpoint }))
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}/api`
    const { exit, stderr } = await svcHere(['profile', 'login', 'x', '--base-url', at, ...key()], own())
    expect([exit, stderr]).toEqual([3, expect.stringContaining('it says that it is http')])
  })

  test('says where people cannot sign in', async () => {
    const other = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}/api`
    const { exit, stderr } = await svcHere(['profile', 'login', 'x', '--base-url', at, ...key()], own())
    expect([exit, stderr]).toEqual([
      3,
      expect.stringContaining('hint: Save a key instead: svc profile login x --with-key'),
    ])
  })
})

test('a code outlives a restart of the service', async () => {
  const tried: string[] = []
  const restarting = createServer(({ url, headers, socket }, response) => {
    const issuer = `http://${headers.host}`
    if (url!.startsWith('/.well-known'))
      return response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/authorize` }))
    const code = {
      device_code: 'x',
      user_code: 'ABCD',
      verification_uri: issuer,
      expires_in: 60,
      interval: 1,
    }
    if (url === '/device_authorization') return response.end(JSON.stringify(code))
    tried.push(url!)
    if (tried.length === 1) return socket.destroy()
    if (tried.length === 2) return response.writeHead(503).end()
    return response
      .writeHead(400)
      .end('{"error":"expired_token","error_description":"Nobody consented in time"}')
  }).listen(0, '127.0.0.1')
  await once(restarting, 'listening')
  onTestFinished(() => void restarting.close())
  const at = `http://127.0.0.1:${(restarting.address() as AddressInfo).port}/api`
  const { exit, stderr } = await svcHere(['profile', 'login', 'x', '--base-url', at, '--device'], own())
  expect([exit, stderr]).toEqual([3, expect.stringContaining('Not signed in: Nobody consented in time')])
  expect(tried).toEqual(['/token', '/token', '/token'])
})

/** A browser that only notes the address. */
const startLogin = async () => {
  const note = path(`address-${people}`)
  writeFileSync(path('browser.sh'), `#!/bin/sh\nprintf %s "$1" >"${note}"\n`, { mode: 0o755 })
  const child = startSvc(['profile', 'login', 'web', '--base-url', service.baseUrl], {
    ...own(),
    BROWSER: path('browser.sh'),
  })
  const ended = outcome(child)
  for (;;) {
    try {
      const url = new URL(readFileSync(note, 'utf8'))
      return { child, ended, url, query: url.searchParams }
    } catch {
      await sleep(20)
    }
  }
}

const sendRaw = async (port: number, text: string): Promise<void> => {
  const socket = connect(port, '127.0.0.1')
  socket.end(text)
  await once(socket.resume(), 'close')
}

describe('the address that waits for the browser', () => {
  test('takes no code with another state or of another service, and says a refusal', async () => {
    const { ended, url, query } = await startLogin()
    const back = (state: string, iss: string, more: object) =>
      fetch(`${query.get('redirect_uri')}?${new URLSearchParams({ state, iss, ...more })}`)
    const state = query.get('state')!
    const there = new URL(query.get('redirect_uri')!)
    await sendRaw(Number(there.port), 'GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    expect((await back('guessed', url.origin, { code: 'stolen' })).status).toBe(404)
    expect((await back(state, 'https://other.example', { code: 'stolen' })).status).toBe(404)
    expect(
      (await back(state, url.origin, { error: 'access_denied', error_description: 'The person said no' }))
        .status,
    ).toBe(200)
    const { exit, stderr } = await ended
    expect([exit, stderr]).toEqual([6, expect.stringContaining('Not signed in: The person said no')])
    await expect(fetch(query.get('redirect_uri')!)).rejects.toThrow('fetch failed')
  })

  test('asks with PKCE, and no secret is in the address', async () => {
    const { child, ended, query } = await startLogin()
    expect([...query.keys()].sort()).toEqual(
      'client_id code_challenge code_challenge_method host installation redirect_uri response_type scope state'.split(
        ' ',
      ),
    )
    child.kill('SIGINT')
    expect((await ended).exit).toBe(130)
  })
})

// Last: the second membership of the person takes an id of a user.
test('a sign-in ends the former sign-in of the profile if it was of somebody else, and follows its organization', async () => {
  await administer()
  await login(key())
  const former = (await as(['profile', 'show', '--reveal', '--jq', '.api_key'])).stdout.trim()
  const slug = `other-${people}`
  await ok(['org', 'create', '--name', slug, '--slug', slug])
  const name = ['--first-name', 'Ada', '--last-name', 'Lovelace', '--email', `ada@${slug}.example`]
  const mobile = env.SVC_DEFAULT_MOBILE!.slice(2)
  const member = ['--org', slug, ...name, '--country-code', '+1', '--mobile', mobile, '--role', 'admin']
  await ok(['user', 'create', ...member])
  const file = path(`${slug}.json`)
  await ok(['user', 'enroll', String(people), '--org', slug, '--software', '--file', file])
  expect((await login(['--authenticator', file])).stdout).toContain(`Signed in to ${slug} as Ada`)
  expect((await as(['user', 'list', '-o', 'id'])).stdout.trim()).toBe(String(people))
  writeFileSync(path('former.key'), former, { mode: 0o600 })
  expect(
    (await svcHere(['whoami', '--base-url', service.baseUrl, '--key-file', path('former.key')])).exit,
  ).toBe(4)
})
