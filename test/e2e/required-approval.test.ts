import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { json, startFakeHosted } from '../fake-hosted.ts'
import type { Person } from './person.ts'
import { svcHere } from './prepare.ts'
import { onTerminal } from './terminal.ts'
import { env, folder, installHooks, ok, operator, service, newPerson } from './profile-folder.ts'

installHooks()

describe('a profile with require_approval', () => {
  let ada: Person
  const receipts = join(folder.path, 'config', 'receipts')
  const auditOf = async (): Promise<string[]> =>
    (await ok(['audit', 'list', '--org', ada.org.slug, '--jq', '.[].changes[]'])).trim().split('\n')

  beforeAll(async () => {
    await ok(['profile', 'create', 'prod', '--base-url', service.baseUrl, '--with-key'], operator)
    await ok(['profile', 'set', 'prod', 'require_approval=geofence create, org delete, user'])
    await ok(['profile', 'use', 'prod'])
    // The key that enrolls a device must not be the key that requests approvals.
    env.SVC_ASK_KEY = (await ok(['key', 'create', '--name', 'asks', '--can', 'ask', '--jq', '.key'])).trim()
  })
  beforeEach(async () => {
    ada = await newPerson()
    await ok(['profile', 'set', 'prod', `default_mobile=${ada.mobile}`, `org=${ada.org.slug}`])
  })
  const fence = ['geofence', 'create', '--name', 'HQ', '--latitude', '52.5', '--longitude', '13.4']
  const create = [...fence, '--radius', '100', '--is-active', '0']

  test('requests the approval first, and the audit log names it', async () => {
    const [done, id] = await Promise.all([svcHere(create, env), ada.answer()])
    expect(done.exit).toBe(0)
    expect(done.stderr).toContain(
      `svc geofence create --name HQ --latitude 52.5 --longitude 13.4 --radius 100 --is-active 0, ` +
        `in organization ${ada.org.slug} (${ada.org.slug}) at ${new URL(service.baseUrl).origin}, profile prod`,
    )
    expect(await auditOf()).toContain(`approval:${id}`)
    expect(existsSync(receipts)).toBe(false)
  })
  test('sends nothing after a denial, and exits with 6', async () => {
    const [done] = await Promise.all([
      svcHere(['org', 'delete', ada.org.slug, '--yes'], env),
      ada.answer({ decision: 'deny' }),
    ])
    expect(done).toMatchObject({ exit: 6, stdout: '' })
    expect(done.stderr).toMatch(/Not approved \(denied\): nothing was sent/)
    expect(await ok(['org', 'get', ada.org.slug, '--jq', '.slug'])).toContain(ada.org.slug)
  })
  test('applies to a raw request to the same route, and shows its body', async () => {
    const path = `/organization/${ada.org.id}/create/geo-fence`
    const [done] = await Promise.all([
      svcHere(['api', path, '-F', 'name=Raw', '-F', 'client_secret=hush'], env),
      ada.answer({ decision: 'deny' }),
    ])
    expect(done.exit).toBe(6)
    expect(done.stderr).toContain(`svc api ${path} -X POST --input '{"name":"Raw","client_secret":"***"}'`)
  })
  test('requests nothing for commands that are not listed, reads and dry runs', async () => {
    await ok(['geofence', 'list'])
    await ok(['user', 'list'])
    await ok([...create, '--dry-run'])
    await ok(['timeslot', 'list'])
    await ok(['key', 'create', '--can', 'all', '--name', `ci of ${ada.org.slug}`])
    expect(await ada.requests('pending')).toEqual([])
  })
  test('withdraws the request when the command is interrupted, and sends nothing', async () => {
    const { exit } = await onTerminal(create, env, [[/left; waiting for/, '\u0003']])
    expect(exit).toBe(130)
    expect(await ada.requests('pending')).toEqual([])
    expect(await ok(['geofence', 'list', '-o', 'id'])).toBe('')
  })
  test('ignores an approver from the environment', async () => {
    const bob = await newPerson()
    const [done] = await Promise.all([
      svcHere(create, { ...env, SVC_DEFAULT_MOBILE: bob.mobile }),
      ada.answer({ decision: 'deny' }),
    ])
    expect(done.exit).toBe(6)
    expect(await bob.requests('pending')).toEqual([])
  })
  test('fails closed without an approver', async () => {
    await ok(['profile', 'set', 'prod', 'default_mobile='])
    const { exit, stderr } = await svcHere(create, env)
    expect(exit).toBe(2)
    expect(stderr).toMatch(/has no approver\nhint: svc profile set prod default_mobile=/)
    expect(await ok(['geofence', 'list', '-o', 'id'])).toBe('')
  })
  test('rejects an unknown command', async () => {
    const { exit, stderr } = await svcHere(['profile', 'set', 'prod', 'require_approval=orgs delete'], env)
    expect(exit).toBe(2)
    expect(stderr).toMatch(/"orgs delete" is not a command of svc; did you mean "org delete"\?/)
  })
  test('requires a tool server for another service, and saves its receipt', async () => {
    const hosted = await startFakeHosted()
    const fine = json(200, { status: 'success', message: 'OK' })
    const absent = json(404, { status: 'error', message: 'Not found' })
    hosted.always((seen, response) => (seen.path.startsWith('/svc/') ? absent : fine)(seen, response))
    try {
      await ok(['profile', 'create', 'hosted', '--base-url', hosted.baseUrl, '--with-key'], 'a-key')
      const mobile = `default_mobile=${ada.mobile}`
      await ok(['profile', 'set', 'hosted', 'require_approval=api', mobile])
      const write = ['api', '/organization/create', '-f', 'name=Acme', '-p', 'hosted']
      const writes = () => hosted.seen.filter(({ path }) => path.endsWith('/create'))

      const mcp = new URL('/mcp', service.baseUrl).href
      const alone = await svcHere(write, { ...env, SVC_MCP_URL: mcp })
      expect(alone.exit).toBe(1)
      expect(alone.stderr).toMatch(/has no approvals/)
      expect(writes()).toEqual([])

      await ok(['profile', 'set', 'hosted', `mcp_url=${mcp}`])
      const [done] = await Promise.all([svcHere(write, env), ada.answer()])
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
