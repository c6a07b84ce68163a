import { beforeEach, describe, expect, test } from 'vitest'
import { decide } from '../service/approver.ts'
import { createRule } from '../service/rule-fixture.ts'
import { svcHere } from './prepare.ts'
import { onTerminal } from './terminal.ts'
import { ada, api, env, grace, hold, installHooks, keyFor, nobody, service } from './two-people.ts'

// Writes of svc against a rule of the organization.

installHooks()

const answers = async (): Promise<void> => {
  await ada.answer()
  // The service holds the write itself, too, and binds the approval to what it reads.
  await ada.answer()
}

test('the list of commands of a profile asks whom the rule asks', async () => {
  const { key } = (
    await api.call('POST', '/svc/v1/keys', {
      body: { name: 'writes', org_id: ada.org.id, scopes: ['rules', 'read', 'ask'] },
    })
  ).body.data
  env['SVC_API_KEY'] = key
  const list = 'require_approval=geofence create'
  expect((await svcHere(['profile', 'create', 'own', '--base-url', service.baseUrl], env)).exit).toBe(0)
  expect((await svcHere(['profile', 'set', 'own', list], env)).exit).toBe(0)
  const place = ['--latitude', '52.5', '--longitude', '13.4', '--radius', '100', '--is-active', '0']
  const create = ['geofence', 'create', '--name', 'HQ', ...place, '--profile', 'own']
  const before = await svcHere(create, env)
  expect([before.exit, before.stderr]).toEqual([2, expect.stringContaining('has no approver')])
  await nobody()
  await hold({ type: 'request', operation: ['geofence create'] })
  const [{ exit }] = await Promise.all([svcHere(create, env), answers()])
  expect(exit).toBe(0)
})

const fences = async () =>
  (await svcHere(['geofence', 'list', '--org', ada.org.slug, '-o', 'id'], env)).stdout

describe('a write of svc that a rule holds', () => {
  const reason = { prompt: 'Incident', pattern: 'INC-*', example: 'INC-77' }
  let site: string
  const remove = () => ['geofence', 'delete', site, '--org', ada.org.slug, '--yes']

  beforeEach(async () => {
    env['SVC_API_KEY'] = await keyFor(['rules', 'read'])
    const place = ['--latitude', '52.5', '--longitude', '13.4', '--radius', '100', '--is-active', '0']
    const create = ['geofence', 'create', '--org', ada.org.slug, '--name', 'HQ', ...place, '-o', 'id']
    site = (await svcHere(create, env)).stdout.trim()
    await hold({ type: 'request', operation: ['geofence delete'] }, { reason })
  })

  test('says what to pass without a reason, and happens with one once the person of the rule agrees', async () => {
    const without = await svcHere(remove(), env)
    expect([without.exit, without.stderr]).toEqual([2, expect.stringContaining("--reason 'INC-77'")])
    await nobody()
    const [denied] = await Promise.all([
      svcHere([...remove(), '--reason', 'INC-8'], env),
      ada.answer({ decision: 'deny' }),
    ])
    expect([denied.exit, (await fences()).trim()]).toEqual([6, site])
    const [done, id] = await Promise.all([svcHere([...remove(), '--reason', 'INC-9'], env), ada.answer()])
    expect([done.exit, await fences()]).toEqual([0, ''])
    expect((await api.call('GET', `/svc/v1/approvals/${id}`)).body.data).toMatchObject({ reason: 'INC-9' })
  })

  test('asks for the reason at a terminal, with the words of the rule', async () => {
    const [{ exit, screen }] = await Promise.all([
      onTerminal(remove(), env, [[/is required by the rule[^]*Incident[^]*INC-77/, 'INC-8\r']]),
      ada.answer(),
    ])
    expect([exit, screen]).toEqual([0, expect.stringContaining('Approved by')])
    expect(await fences()).toBe('')
  })

  test('by svc api is refused with the request, and happens with its approval unless a rule was added', async () => {
    const raw = ['api', `/organization/${ada.org.id}/delete/geo-fence/${site}`, '-X', 'DELETE']
    const why = ['-H', 'x-svc-reason: INC-7']
    expect((await svcHere([...raw, ...why], env)).exit).toBe(4)
    const id = await ada.answer()
    const used = [...raw, '-H', `x-svc-approval: ${id}`]
    await createRule(api, ada.org.id, {
      members: [ada.id, grace.id],
      match: { type: 'request', operation: ['geofence'] },
    })
    const changed = await svcHere(used, env)
    expect([changed.exit, (await fences()).trim()]).toEqual([4, site])
    expect((await svcHere([...raw, ...why], env)).exit).toBe(4)
    const again = await ada.answer()
    await decide(api, again, grace.key)
    expect((await svcHere([...raw, '-H', `x-svc-approval: ${again}`], env)).exit).toBe(0)
    expect(await fences()).toBe('')
  })
})
