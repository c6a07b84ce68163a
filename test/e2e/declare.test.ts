import { createServer, request } from 'node:http'
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ended } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { listening } from '../client/local-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svcHere } from './prepare.ts'
import { onTerminal } from './terminal.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const enter = '\r'
let service: ServiceHere
let env: Record<string, string>

const file = (name: string): string => `${folder.path}/${name}`
const write = (name: string, text: string): string => {
  writeFileSync(file(name), text)
  return file(name)
}
const run = (...args: string[]): Promise<Ended> => svcHere(args, env)

/** An organization file with `users` users and geofences of these names. */
const organization = (slug: string, fences: string[], users = 1): string =>
  `svc: 1
organization: { slug: ${slug}, name: Acme Corp }
geofences:
${fences.map((name) => `  - { name: ${name}, latitude: 52.52, longitude: 13.405, radius: 150 }\n`).join('')}users:
${Array.from({ length: users }, (_, i) => `  - { mobile: "+1202555${1000 + i}", first_name: Ada, last_name: Number ${i}, email: ada@acme.example }\n`).join('')}`

/** The service behind a proxy that forwards this many new users, and the others only after `release`. */
const holdUsersAfter = async (most: number): Promise<{ baseUrl: string; release: () => void }> => {
  const target = new URL(service.baseUrl)
  let held: (() => void)[] | undefined = []
  let users = 0
  const proxy = createServer((incoming, response) => {
    const forward = (): void => {
      const { method, headers } = incoming
      const outgoing = request(
        new URL(incoming.url!, target),
        { method, headers: { ...headers, host: target.host } },
        (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers)),
      )
      incoming.pipe(outgoing)
    }
    if (held && incoming.url!.endsWith('/create/user') && ++users > most) held.push(forward)
    else forward()
  })
  const release = (): void => {
    const waiting = held ?? []
    held = undefined
    for (const forward of waiting) forward()
  }
  const port = await listening(proxy)
  return { baseUrl: `http://127.0.0.1:${port}${target.pathname}`, release }
}

beforeAll(async () => {
  service = await startServiceHere(`${folder.path}/data`, key)
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: file('config') }
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

describe('in a pipe', () => {
  test('diff exits 10 until apply has made the changes, then 0, and an export shows no difference', async () => {
    const path = write('a.yaml', organization('a', ['HQ', 'Lab']))
    const drift = await svcHere(['diff', path], env)
    expect([drift.exit, drift.stdout.trim().split('\n').at(-1)]).toEqual([
      10,
      '4 to create, 0 to change, 0 to delete',
    ])
    const refused = await svcHere(['apply', path], env)
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('--yes')])
    const { exit, stderr } = await svcHere(['apply', path, '--yes'], env)
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(/\[1\/4\] created organization\/a\n[^]*Done: 4 of 4 steps/),
    ])
    expect(await svcHere(['diff', path, '--prune'], env)).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('No change'),
    })

    const exported = await svcHere(['export', '--org', 'a'], env)
    expect(exported).toMatchObject({ exit: 0, stderr: '' })
    expect((await svcHere(['diff', '--prune', '-'], env, exported.stdout)).exit).toBe(0)
    const json = await svcHere(['diff', path, '-o', 'json'], env)
    expect(JSON.parse(json.stdout)).toMatchObject({ organization: 'a', steps: [] })
  })

  test('deletes only with --prune, and users keep their history', async () => {
    await run('apply', write('p.yaml', organization('p', ['HQ', 'Lab'], 2)), '--yes')
    const fewer = write('p.yaml', organization('p', ['HQ'], 1))
    const kept = await run('diff', fewer)
    expect(kept).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('2 only in the service (--prune deletes them)'),
    })
    const { exit, stderr } = await run('apply', fewer, '--prune', '--yes')
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(/removed users\/\+1••••••1001\n.*deleted geofences\/Lab/),
    ])
    const { stdout } = await run(
      'user',
      'list',
      '--org',
      'p',
      '--state',
      'removed',
      '--jq',
      '.[].mobile_e164',
    )
    expect(stdout).toContain('+12025551001')
  })

  test('exits 10 when a step failed, and prints how to continue and what to do by hand', async () => {
    const text = `${organization('f', ['HQ'])}auth_codes: [{ label: Old, expires_at: 2020-01-01T00:00:00Z }, { label: New }]\nidp: { provider: okta, client_id: x, client_secret: (kept) }\n`
    const path = write('f.yaml', text)
    const { exit, stderr, stdout } = await run('apply', path, '--yes')
    expect(exit).toBe(10)
    expect(stderr).toContain('4 of 5 steps done, 1 failed, 1 left to do by hand')
    expect(stderr).toMatch(/auth_codes\/Old: .*future/)
    expect(stderr).toContain(
      'svc org creds set-idp --org f --provider okta --client-id x --client-secret-file FILE',
    )
    expect(stderr).toContain(`svc apply ${path} --yes continues`)
    expect(stdout).toMatch(/auth_codes\/New {2}\S+ {2}\(shown once: save it now\)/)
  })

  test('takes the file as an argument, and --dry-run only prints the plan', async () => {
    const path = write('d.yaml', organization('d', ['HQ']))
    const shown = await run('apply', path, '--dry-run')
    expect(shown).toMatchObject({ exit: 0, stderr: 'Nothing was changed.\n' })
    expect(shown.stdout).toBe((await run('diff', path)).stdout)
    expect(JSON.parse((await run('apply', path, '--dry-run', '-o', 'json')).stdout)).toMatchObject({
      summary: { create: 3 },
    })
    expect((await run('org', 'get', 'd')).exit).toBe(5)
  })

  test('requires --confirm with the slug in a protected profile', async () => {
    const config = { SVC_CONFIG_DIR: file('protected'), SVC_API_KEY: key }
    await svcHere(
      ['profile', 'create', 'prod', '--base-url', service.baseUrl, '--with-key', '--protected'],
      config,
      `${key}\n`,
    )
    const path = write('s.yaml', organization('s', ['HQ']))
    const apply = (...args: string[]): Promise<Ended> =>
      svcHere(['apply', path, '--profile', 'prod', ...args], config)
    const refused = await apply('--prune', '--yes')
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`hint: svc apply ${path} --prune --profile prod --confirm s\n`),
    ])
    expect(await apply('--confirm', 'acme')).toMatchObject({ exit: 2 })
    expect(await apply('--confirm', 's')).toMatchObject({ exit: 0 })
  })
})

describe('on a terminal', () => {
  test('asks with organization, address and profile, and changes nothing without a yes', async () => {
    const path = write('q.yaml', organization('q', ['HQ']))
    const no = await onTerminal(['apply', path], env, [[/Continue\?/, enter]])
    expect([no.exit, no.screen]).toEqual([
      1,
      expect.stringMatching(
        /Apply to q: 3 to create[^]*at http:\/\/127\.0\.0\.1:\d+[^]*profile default[^]*Nothing was applied/,
      ),
    ])
    expect((await run('org', 'get', 'q')).exit).toBe(5)
    const yes = await onTerminal(['apply', path], env, [[/Continue\?/, `y${enter}`]])
    expect([yes.exit, yes.screen]).toEqual([0, expect.stringContaining('Done: 3 of 3 steps')])
    expect(yes.screen).toContain('users/+1••••••1000')
  })

  test('stops between two steps on Ctrl-C, and prints a command that continues', async () => {
    const path = write('c.yaml', organization('c', ['HQ'], 30))
    const { baseUrl, release } = await holdUsersAfter(8)
    const { exit, screen } = await onTerminal(['apply', path, '--yes'], { ...env, SVC_BASE_URL: baseUrl }, [
      [/\[10\/32\]/, '\u0003'],
      [/Finishing the requests in progress/, release],
    ])
    // 10 steps, and the 16 requests that were in progress.
    expect([exit, screen]).toEqual([130, expect.stringContaining('Stopped: 26 of 32 steps done')])
    expect(screen).toContain(`svc apply ${path} --yes continues`)
    const { stdout } = await run('user', 'list', '--org', 'c', '-o', 'id')
    expect(stdout.trim().split('\n')).toHaveLength(24)
    expect((await run('apply', path, '--yes')).exit).toBe(0)
    expect((await run('diff', path, '--prune')).exit).toBe(0)
  })
})

test('the built command line prints the schema without a service', async () => {
  const { exit, stdout } = await svcHere(['export', '--schema'])
  expect(exit).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ type: 'object', required: ['svc', 'organization'] })
})
