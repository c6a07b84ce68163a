import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApprover } from '../../service/approver.ts'
import { auditOf, createMember, dataOf } from '../../service/fixtures.ts'
import { openRuleStage, type RuleStage } from '../bulk/rule-stage.ts'

// `svc apply` in an organization with a rule that holds most of its changes.

let stage: RuleStage
beforeEach(async () => {
  stage = await openRuleStage(['user', 'geofence', 'timeslot'], async (service) => {
    await createMember(service, 1, 60, { first_name: 'Eve' })
    await createApprover(service, 1, 2)
  })
})
afterEach(() => stage.close())

const file = `svc: 1
organization: { slug: acme, name: Acme }
geofences:
  - { name: Office, latitude: 1, longitude: 2, radius: 3 }
users:
  - mobile: "+12025550160"
    first_name: Eva
    last_name: Lovelace
    email: user60@acme.example
    role: admin
  - mobile: "+12025550161"
    first_name: New
    last_name: One
    email: new@acme.example
    state: pending
    timeslots:
      - { name: Nights, days: [mon], start: "22:00", end: "06:00", timezone: Europe/Berlin }
`

const apply = () => stage.svc(['apply', 'acme.yaml', '--yes', '-o', 'json'])

test('asks once for all changes, also for those of a user whom it creates', async () => {
  stage.put('acme.yaml', file)
  const running = apply()
  const id = await stage.answer()
  const { exit, err } = await running
  expect([exit, err]).toEqual([0, expect.any(String)])
  expect(stage.requests()).toEqual([id])
  const { subject, used_at } = dataOf(await stage.service.call('GET', `/svc/v1/approvals/${id}`))
  expect(subject.data).toMatchObject({
    counts: { 'Role changes': 1, 'user create': 1, 'user update': 1, 'geofence create': 1 },
    body: { roles: ['Eve Lovelace (user 2, ••••••••0160): admin'] },
  })
  // Every row was used.
  expect(used_at).not.toBeNull()
  const named = (await auditOf(stage.service, 1)).filter(([, , changes]) =>
    changes.some((one) => one.startsWith(`approval:${id}:`)),
  )
  expect(named.length).toBeGreaterThanOrEqual(5)
  expect((await apply()).exit).toBe(0)
  expect(stage.requests()).toEqual([id])
})

test('changes nothing after a denial', async () => {
  stage.put('acme.yaml', file)
  const running = apply()
  const id = await stage.answer('deny')
  expect(stage.requests()).toEqual([id])
  expect((await running).exit).toBe(6)
  expect(await stage.list('geo-fences')).toEqual([])
})

test('goes on under the same approval with what is left', async () => {
  stage.put('acme.yaml', file)
  const limit = async (users: number) =>
    dataOf(await stage.service.call('POST', '/svc/v1/organizations/1/limits', { body: { users } }))
  await limit((await stage.list('users')).length)
  const running = apply()
  const id = await stage.answer()
  expect((await running).exit).not.toBe(0)
  await limit(100)
  expect((await apply()).exit).toBe(0)
  expect(stage.requests()).toEqual([id])
  const rows = dataOf(await stage.service.call('GET', `/svc/v1/approvals/${id}/rows`))
  expect(rows.every(({ used_at }: { used_at: string | null }) => used_at !== null)).toBe(true)
})

test('warns of an exception that lets more through than it seems to', async () => {
  stage.put(
    'acme.yaml',
    `${file}groups: [{ name: sre, members: ["+12025550101", "+12025550102"] }]
rules:
  - name: plans
    match: { type: command, argv: [terraform, "**"] }
    except: [{ cwd: [/srv/sandbox] }]
    who: ["@sre"]
`,
  )
  const { exit, err } = await stage.svc(['apply', 'acme.yaml', '--dry-run'])
  expect(err).toContain(
    'An exception for a folder alone (plans) also excepts options that name another folder',
  )
  expect(exit).toBe(0)
})
