import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from './person.ts'
import { svcHere } from './prepare.ts'
import { outcome, startSvc } from './processes.ts'
import { env, holdFor, installHooks, ok, operator, service, newPerson } from './profile-folder.ts'
import { onTerminal } from './terminal.ts'

installHooks()

describe('an organization with a rule', () => {
  let ada: Person
  let site: string
  const fences = () => ok(['geofence', 'list', '--org', ada.org.slug, '-o', 'id'])
  const remove = () => ['geofence', 'delete', site, '--org', ada.org.slug, '--yes']

  beforeAll(async () => {
    await ok(['profile', 'create', 'prod', '--base-url', service.baseUrl, '--with-key'], operator)
    await ok(['profile', 'use', 'prod'])
  })
  beforeEach(async () => {
    ada = await newPerson()
    const place = ['--latitude', '52.5', '--longitude', '13.4', '--radius', '100', '--is-active', '0']
    site = (
      await ok(['geofence', 'create', '--org', ada.org.slug, '--name', 'HQ', ...place, '-o', 'id'])
    ).trim()
    await holdFor(ada, ['geofence delete'])
  })

  test('requires an approval from the service, and the command continues with it', async () => {
    const [done, id] = await Promise.all([svcHere(remove(), env), ada.answer()])
    expect(done.exit).toBe(0)
    expect(done.stderr).toMatch(/This requires an approval by @\S+ because of rule \S+: apr_/)
    expect(await fences()).toBe('')
    const changes = await ok(['audit', 'list', '--org', ada.org.slug, '--jq', '.[].changes[]'])
    expect(changes.split('\n')).toContain(`approval:${id}`)
  })

  test('is unchanged when the approver denies', async () => {
    const [done] = await Promise.all([svcHere(remove(), env), ada.answer({ decision: 'deny' })])
    expect(done).toMatchObject({ exit: 6, stdout: '' })
    expect(done.stderr).toMatch(/Not approved \(denied\): this was not changed/)
    expect((await fences()).trim()).toBe(site)
  })

  test('withdraws the request when the command is interrupted', async () => {
    const { exit } = await onTerminal(remove(), env, [[/ left/, '\u0003']])
    expect(exit).toBe(130)
    expect(await ada.requests('pending')).toEqual([])
    expect((await fences()).trim()).toBe(site)
  })

  test('fails the command when its key is revoked during the wait', async () => {
    const create = ['key', 'create', '--org', ada.org.slug, '--name', 'short', '--can', 'read,rules']
    const { id, key } = JSON.parse(await ok([...create, '-o', 'json'])) as { id: string; key: string }
    const child = startSvc(remove(), { ...env, SVC_API_KEY: key })
    const waiting = outcome(child)
    // With a revoked key it could not even begin to wait.
    for (let waits = 0; waits === 0;) waits = Number(await ok(['service', 'nodes', '--jq', '.[].waiting']))
    await ok(['key', 'revoke', id, '--yes'])
    const { exit, stderr } = await waiting
    expect(exit).toBe(4)
    expect(stderr).toContain('does not accept this API key')
    expect(stderr).not.toContain('could not be withdrawn')
    expect((await fences()).trim()).toBe(site)
  })

  test('rejects a raw call and names the request to wait for', async () => {
    const { exit, stdout } = await svcHere(
      ['api', `/organization/${ada.org.id}/delete/geo-fence/${site}`, '-X', 'DELETE'],
      env,
    )
    expect(exit).toBe(4)
    const [request] = await ada.requests('pending')
    expect(stdout).toContain(`x-svc-approval: ${request?.request_id}`)
  })
})
