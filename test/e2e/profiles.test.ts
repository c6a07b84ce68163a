import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { json, startFakeHosted } from '../fake-hosted.ts'
import { createPerson, remote, type Person } from './person.ts'
import { startService, svc, temporaryFolder, type Ended, type Service } from './processes.ts'
import { onTerminal } from './terminal.ts'

// What guards a command before it is sent: profiles, credential commands, approvals. The built program throughout.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
const enter = '\r'
const folder = temporaryFolder()
const env = { SVC_CONFIG_DIR: join(folder.path, 'config'), HOME: folder.path }
const saved = join(folder.path, 'config', 'profiles.json')
let service: Service
let people = 0

const isRunning = (pid: string): boolean =>
  existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')

const ok = async (args: string[], stdin = ''): Promise<string> => {
  const { exit, stdout, stderr } = await svc(args, env, stdin)
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout
}

beforeAll(async () => {
  service = await startService(join(folder.path, 'data'), operator, ['--dev'])
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

describe('svc profile login', () => {
  beforeEach(() => ok(['profile', 'add', `p${++people}`, '--base-url', service.baseUrl]))

  test('asks without echo, tries the key, and saves it for its owner alone', async () => {
    const { exit, screen } = await onTerminal(['profile', 'login', `p${people}`], env, [
      [/API key for http/, `${operator}${enter}`],
    ])
    expect(exit).toBe(0)
    expect(screen).toMatch(/The key works at http/)
    expect(screen).not.toContain(operator)
    expect(statSync(saved).mode & 0o777).toBe(0o600)
    expect(await ok(['org', 'list', '-p', `p${people}`])).toBe('')
  })
  test('saves nothing that the service does not take', async () => {
    const before = readFileSync(saved, 'utf8')
    const wrong = `svc_op_00000000_${'x'.repeat(43)}`
    const { exit, stderr } = await svc(['profile', 'login', `p${people}`, '--with-key'], env, wrong)
    expect(exit).toBe(4)
    expect(stderr).not.toContain(wrong)
    expect(readFileSync(saved, 'utf8')).toBe(before)
  })
})

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
    await ok(['profile', 'add', 'cmd', '--base-url', service.baseUrl, '--credential-command', script])
  })

  test('gives the key', async () => {
    expect(await use(`cat ${keyFile}`)).toMatchObject({ exit: 0, stderr: '' })
  })
  test('that hangs is killed with its children after five seconds, and named', async () => {
    const pids = join(folder.path, 'pids')
    const started = performance.now()
    const { exit, stderr } = await use(`sleep 300 & echo $! > ${pids}; sleep 300`)
    expect(exit).toBe(1)
    expect(performance.now() - started).toBeLessThan(9_000)
    expect(stderr).toMatch(
      /credential command of profile "cmd", .*print-key, did not finish within 5 seconds/,
    )
    const pid = readFileSync(pids, 'utf8').trim()
    await expect.poll(() => isRunning(pid)).toBe(false)
  })
  test('that fails tells its last words safely, and what to type', async () => {
    const { exit, stderr } = await use(String.raw`printf 'locked \033[31m\n' >&2; exit 2`)
    expect(exit).toBe(1)
    expect(stderr).toContain('It said: locked \\u{001b}[31m')
    expect(stderr).toContain("svc profile set cmd credential_command='…'")
  })
})

describe('a profile with require_approval', () => {
  let ada: Person
  const receipts = join(folder.path, 'config', 'receipts')
  const auditOf = async (): Promise<string[]> =>
    (await ok(['audit', 'list', '--org', ada.org.slug, '--jq', '.[].changes[]'])).trim().split('\n')

  beforeAll(async () => {
    await ok(['profile', 'add', 'prod', '--base-url', service.baseUrl, '--with-key'], operator)
    await ok(['profile', 'set', 'prod', 'require_approval=geofence create, org delete, user'])
    await ok(['profile', 'use', 'prod'])
  })
  beforeEach(async () => {
    ada = await createPerson(remote(service.baseUrl, operator), ++people)
    await ok(['profile', 'set', 'prod', `default_mobile=${ada.mobile}`, `org=${ada.org.slug}`])
  })
  const fence = ['geofence', 'create', '--name', 'HQ', '--latitude', '52.5', '--longitude', '13.4']
  const create = [...fence, '--radius', '100', '--is-active', '0']

  test('asks the person of the profile first; the audit names the approval', async () => {
    const [done, id] = await Promise.all([svc(create, env), ada.answer()])
    expect(done.exit).toBe(0)
    expect(done.stderr).toContain(
      `svc geofence create --name HQ --latitude 52.5 --longitude 13.4 --radius 100 --is-active 0, ` +
        `in organization ${ada.org.slug} (${ada.org.slug}) at ${new URL(service.baseUrl).origin}, profile prod`,
    )
    expect(await auditOf()).toContain(`approval:${id}`)
    expect(existsSync(receipts)).toBe(false)
  })
  test('sends nothing when the person says no, and exits with 6', async () => {
    const [done] = await Promise.all([
      svc(['org', 'delete', ada.org.slug, '--yes'], env),
      ada.answer({ decision: 'deny' }),
    ])
    expect(done).toMatchObject({ exit: 6, stdout: '' })
    expect(done.stderr).toMatch(/Not approved \(denied\): nothing was sent/)
    expect(await ok(['org', 'get', ada.org.slug, '--json', 'slug'])).toContain(ada.org.slug)
  })
  test('asks for a raw request to the same route, with its body', async () => {
    const path = `/organization/${ada.org.id}/create/geo-fence`
    const [done] = await Promise.all([
      svc(['api', path, '-F', 'name=Raw', '-F', 'client_secret=hush'], env),
      ada.answer({ decision: 'deny' }),
    ])
    expect(done.exit).toBe(6)
    expect(done.stderr).toContain(`svc api ${path} -X POST --input '{"name":"Raw","client_secret":"***"}'`)
  })
  test('asks nobody for what is not listed, what only reads, and a dry run', async () => {
    await ok(['geofence', 'list'])
    await ok(['user', 'list'])
    await ok([...create, '--dry-run'])
    await ok(['timeslot', 'list'])
    await ok(['key', 'create', '--name', `k${people}`])
    expect(await ada.requests('pending')).toEqual([])
  })
  test('takes the request back when the command is interrupted, and sends nothing', async () => {
    const { exit } = await onTerminal(create, env, [[/Waiting for/, '\u0003']])
    expect(exit).toBe(130)
    expect(await ada.requests('pending')).toEqual([])
    expect(await ok(['geofence', 'list', '-o', 'id'])).toBe('')
  })
  test('does not let the environment choose who is asked', async () => {
    const bob = await createPerson(remote(service.baseUrl, operator), ++people)
    const [done] = await Promise.all([
      svc(create, { ...env, SVC_DEFAULT_MOBILE: bob.mobile }),
      ada.answer({ decision: 'deny' }),
    ])
    expect(done.exit).toBe(6)
    expect(await bob.requests('pending')).toEqual([])
  })
  test('fails closed where nobody is named', async () => {
    await ok(['profile', 'set', 'prod', 'default_mobile='])
    const { exit, stderr } = await svc(create, env)
    expect(exit).toBe(2)
    expect(stderr).toMatch(/names nobody to ask\nhint: svc profile set prod default_mobile=/)
    expect(await ok(['geofence', 'list', '-o', 'id'])).toBe('')
  })
  test('refuses a command that svc does not have', async () => {
    const { exit, stderr } = await svc(['profile', 'set', 'prod', 'require_approval=orgs delete'], env)
    expect(exit).toBe(2)
    expect(stderr).toMatch(/no command "orgs delete"; did you mean "org delete"\?/)
  })
  test('with another service of the contract keeps the receipt of its tool server, and goes no further without one', async () => {
    const hosted = await startFakeHosted()
    const fine = json(200, { status: 'success', message: 'OK' })
    const absent = json(404, { status: 'error', message: 'Not found' })
    hosted.always((seen, response) => (seen.path.startsWith('/svc/') ? absent : fine)(seen, response))
    try {
      await ok(['profile', 'add', 'hosted', '--base-url', hosted.baseUrl, '--with-key'], 'a-key')
      const mobile = `default_mobile=${ada.mobile}`
      await ok(['profile', 'set', 'hosted', 'require_approval=api', mobile])
      const write = ['api', '/organization/create', '-f', 'name=Acme', '-p', 'hosted']
      const writes = () => hosted.seen.filter(({ path }) => path.endsWith('/create'))

      const mcp = new URL('/mcp', service.baseUrl).href
      const alone = await svc(write, { ...env, SVC_MCP_URL: mcp })
      expect(alone.exit).toBe(1)
      expect(alone.stderr).toMatch(/does not show them the action, so nothing can be done on its word/)
      expect(writes()).toEqual([])

      await ok(['profile', 'set', 'hosted', `mcp_url=${mcp}`])
      const [done] = await Promise.all([svc(write, env), ada.answer()])
      expect(done.exit).toBe(0)
      expect(writes()).toHaveLength(1)
      expect(writes()[0]!.headers).not.toHaveProperty('x-svc-approval')
      const [file] = readdirSync(receipts)
      expect(statSync(join(receipts, file!)).mode & 0o777).toBe(0o600)
      expect(JSON.parse(readFileSync(join(receipts, file!), 'utf8')).claims.action).toMatch(
        /^svc api \/organization\/create -X POST --input '\{"name":"Acme"\}', at http/,
      )
    } finally {
      await hosted.close()
    }
  })
})

describe('a question says where', () => {
  let slug: string
  let id: number
  beforeAll(async () => {
    const { org } = await createPerson(remote(service.baseUrl, operator), ++people)
    ;({ slug, id } = org)
    await ok(
      ['profile', 'add', 'guarded', '--base-url', service.baseUrl, '--protected', '--with-key'],
      operator,
    )
    await ok(['profile', 'add', 'plain', '--base-url', service.baseUrl, '--with-key'], operator)
  })
  const where = (profile: string) =>
    new RegExp(`in organization ${slug} \\(${slug}\\) at http://127\\.0\\.0\\.1:\\d+, profile ${profile}`)

  test('with the organization, the address and the profile', async () => {
    const { exit, screen } = await onTerminal(['org', 'delete', String(id), '-p', 'plain'], env, [
      [/Go on\?/, enter],
    ])
    expect(screen.replaceAll(/\r?\n/g, '')).toMatch(where('plain'))
    expect(exit).toBe(1)
  })
  test('and in a protected profile wants the name', async () => {
    const { exit, screen } = await onTerminal(['org', 'delete', String(id), '-p', 'guarded'], env, [
      [new RegExp(`Type ${slug} to go on`), `y${enter}`],
    ])
    expect(screen.replaceAll(/\r?\n/g, '')).toMatch(where('guarded'))
    expect(exit).toBe(1)
    const raw = await svc(['api', `/organization/${id}/delete`, '-X', 'DELETE', '-p', 'guarded'], env)
    expect(raw.exit).toBe(2)
    expect(raw.stderr).toContain(`--confirm /organization/${id}/delete`)
    expect((await svc(['org', 'delete', slug, '--yes', '-p', 'guarded'], env)).stderr).toContain(
      `hint: svc org delete ${slug} --confirm ${slug}`,
    )
  })
})

describe('.svcrc', () => {
  test('names the profile of a folder for the built program', async () => {
    const work = join(folder.path, 'work', 'deep')
    mkdirSync(work, { recursive: true })
    writeFileSync(join(folder.path, 'work', '.svcrc'), 'profile: plain\n', { mode: 0o644 })
    const { stdout } = await svc(['profile', 'show', '--explain', '-o', 'json'], env, '', work)
    expect(JSON.parse(stdout)[0]).toEqual({
      setting: 'profile',
      value: 'plain',
      source: '.svcrc',
      from: join(folder.path, 'work', '.svcrc'),
    })
  })
})
