import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { outcome, startSvc } from './processes.ts'
import { env, installHooks, service } from './bare-service.ts'
import { svcHere } from './prepare.ts'

installHooks()
beforeAll(async () => {
  await svcHere('org create --name Acme', env)
})

const serve = async (answer: RequestListener): Promise<{ server: Server; baseUrl: string }> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/public/api` }
}

describe('rejects bad arguments with exit code 2, before anything is sent', () => {
  const cases: [what: string, args: string[], says: RegExp][] = [
    ['an unknown command', ['org', 'lst'], /lst.*list/],
    ['an unknown flag', ['org', 'list', '--limt', '3'], /--limt.*--limit/],
    ['an invalid number', ['geofence', 'list', '--org', 'acme', '--limit', 'many'], /--limit.*whole number/],
    [
      'a value that is not one of the choices',
      ['user', 'list', '--org', 'acme', '--state', 'gone'],
      /--state.*pending/,
    ],
    ['a missing value', ['org', 'create'], /Missing --name/],
    ['too many arguments', ['org', 'get', 'acme', 'globex'], /Too many arguments for svc org get/],
    ['invalid JSON', ['geofence', 'set', '--user', '1', '--geofences', '{'], /--geofences.*JSON/],
    ['a missing file', ['org', 'update', 'acme', '--input', '/nowhere.json'], /--input.*nowhere/],
    ['a path value as body field', ['org', 'update', 'acme', '-f', 'org_id=2'], /org_id/],
    ['an unknown output format', ['org', 'list', '-o', 'xml'], /xml/],
    ['an unconfirmed delete', ['org', 'delete', 'acme'], /--yes/],
    [
      'plain http to another host',
      ['org', 'list', '--base-url', 'http://svc.example/admin/public/api'],
      /http/,
    ],
  ]
  test.each(cases)('%s', async (_, args, says) => {
    const { exit, stdout, stderr } = await svcHere(args, env)
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/\n {4}at /)
  })
})

describe('reports what the service rejects, with an exit code and a request ID', () => {
  const cases: [what: string, args: string[], exit: number, says: RegExp][] = [
    ['an unknown ID', ['org', 'get', '999'], 5, /not found/i],
    ['an unknown field', ['org', 'update', 'acme', '--name', 'X', '-f', 'nmae=Y'], 2, /nmae/],
    ['__proto__', ['org', 'update', 'acme', '-F', 'a=1', '--input', '-'], 2, /__proto__/],
    [
      'a wrong time zone',
      [
        'timeslot',
        'create',
        '--org',
        'acme',
        '--name',
        'X',
        '--days',
        'mon',
        '--start',
        '09:00',
        '--end',
        '10:00',
        '--timezone',
        'Mars/Base',
      ],
      2,
      /timezone/,
    ],
    ['a slug that is taken', ['org', 'create', '--name', 'Acme'], 3, /acme/],
  ]
  test.each(cases)('%s', async (_, args, exit, says) => {
    const ended = await svcHere(args, env, '{"name":"Z","__proto__":{"a":1}}')
    expect(ended).toMatchObject({ exit, stdout: '' })
    expect(ended.stderr).toMatch(says)
    expect(ended.stderr).toMatch(/req_/)
  })
  test('a wrong key', async () => {
    const { exit, stderr } = await svcHere(['org', 'list'], {
      ...env,
      SVC_API_KEY: service.key.replace('k', 'x'),
    })
    expect(exit).toBe(4)
    expect(stderr).toMatch(/hint: /)
    expect(stderr).not.toContain(service.key.slice(16))
  })
  test('in a machine format, as JSON on standard error', async () => {
    const { exit, stdout, stderr } = await svcHere(['org', 'get', '999', '-o', 'json'], env)
    expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'not_found',
      request_id: expect.stringMatching(/^req_/),
    })
  })
})

describe('reports what goes wrong on the way, and never as a success', () => {
  test('a dead server', async () => {
    const { exit, stderr } = await svcHere(['org', 'list'], {
      ...env,
      SVC_BASE_URL: 'http://127.0.0.1:1/admin/public/api',
    })
    expect(exit).toBe(9)
    expect(stderr).toMatch(/127\.0\.0\.1:1\b.*\nhint: .*svc serve/s)
  })
  const answers: [what: string, answer: RequestListener, exit: number, says: RegExp][] = [
    ['a web page', (_, res) => void res.setHeader('content-type', 'text/html').end('<html>'), 1, /web page/],
    [
      'a redirect',
      (_, res) => void res.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
      1,
      /redirect|elsewhere/i,
    ],
    ['an empty answer', (_, res) => void res.end(), 1, /JSON|empty/i],
    ['status "error" in a 200', (_, res) => void res.end('{"status":"error","message":"no"}'), 1, /no/],
    [
      'a broken connection',
      (_, res) => void res.writeHead(200, { 'content-length': 99 }).write('{', () => res.destroy()),
      9,
      /ended before/,
    ],
  ]
  test.each(answers)('%s', async (_, answer, exit, says) => {
    const { server, baseUrl } = await serve(answer)
    const ended = await svcHere(['org', 'list'], { ...env, SVC_BASE_URL: baseUrl })
    server.close()
    expect(ended).toMatchObject({ exit, stdout: '' })
    expect(ended.stderr).toMatch(says)
  })
  test('exits with 130 on Ctrl-C while it waits', async () => {
    const { server, baseUrl } = await serve(() => child.kill('SIGINT'))
    const child = startSvc(['org', 'list'], { ...env, SVC_BASE_URL: baseUrl })
    const { exit } = await outcome(child)
    server.closeAllConnections()
    server.close()
    expect(exit).toBe(130)
  })
})
