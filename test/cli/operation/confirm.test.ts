import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asksFirst, type Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { groups } from '../../../src/cli/main.ts'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { svc } from '../svc.ts'
import { argvOf } from '../terminal/typed-operations.ts'

const operations = Object.entries(table as Record<string, Operation>).filter(
  ([, { cli, hidden }]) => !hidden && Object.hasOwn(groups, cli.split(' ')[0]!),
)
/** They look the organization up before they ask. */
const namesOrg = new Set(['org delete'])

let service: FakeHosted
let env: Record<string, string>
beforeAll(async () => {
  service = await startFakeHosted()
  service.always(json(404, { status: 'error', message: 'Not found' }))
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k' }
})
afterAll(() => service.close())

describe('an operation that ends or gives access', () => {
  test.each(operations.filter(([, one]) => asksFirst(one) && !namesOrg.has(one.cli)))(
    '%s requires --yes without a terminal',
    async (_, operation) => {
      const typed = argvOf(operation, '-').filter((word) => word !== '--yes')
      const deciding = Object.entries(operation.decidesWith ?? {}).map(
        ([name, [value]]) => `--${name}=${value}`,
      )
      const argv = [...typed.map((word) => (word === 'acme' ? '1' : word)), ...deciding]
      const asked = await svc(argv, { env })
      expect(asked).toMatchObject({ exit: 2 })
      expect(asked.message).toBe(`svc ${operation.cli} requires --yes when it cannot ask for confirmation`)
      expect(service.seen.splice(0).filter(({ method }) => method !== 'GET')).toEqual([])
      // Whether a rule exists is looked up.
      const isLookedUp = operation.cli === 'rule delete'
      expect((await svc([...argv, '--dry-run'], { env })).exit).toBe(isLookedUp ? 5 : 0)
      expect((await svc([...argv, '--yes'], { env })).exit).toBe(5)
      expect(service.seen.splice(0).length).toBeGreaterThan(0)
    },
  )

  test('is each one whose command says so', () => {
    const strong =
      /\b(?:delete|remove|revoke|reject|refuse|hold|suspend|approve|report|make-\w+|reset|end|disconnect|leave)\b/
    const words = operations.flatMap(([, { cli, effect }]) => (effect === 'read' ? [] : [cli]))
    const group = /^approve /
    const asking = new Set(operations.flatMap(([, one]) => (asksFirst(one) ? [one.cli] : [])))
    expect(words.filter((cli) => strong.test(cli.replace(group, '')) && !asking.has(cli))).toEqual([])
    expect([...asking].toSorted()).toEqual([
      'approve mutes delete',
      'geofence delete',
      'grant revoke',
      'group delete',
      'group remove',
      'iot delete',
      'key revoke',
      'org auth-code delete',
      'org delete',
      'rule delete',
      'timeslot delete',
      'user delete',
      'user devices approve',
      'user devices refuse',
      'user devices revoke',
      'user make-admin',
      'user pending hold',
      'user pending reject',
      'user remove',
      'user update',
      'webhook delete',
    ])
  })
})

describe('svc user update', () => {
  const update = ['user', 'update', '7', '--org', '1']

  test('requires --yes with --role admin', async () => {
    const asked = await svc([...update, '--role', 'admin'], { env })
    expect(asked).toMatchObject({
      exit: 2,
      message: 'svc user update requires --yes when it cannot ask for confirmation',
    })
    expect(service.seen.splice(0).filter(({ method }) => method !== 'GET')).toEqual([])
  })

  test.each([
    ['--role', 'member'],
    ['--first-name', 'Ada'],
  ])('does not ask with %s %s', async (...change) => {
    expect((await svc([...update, ...change], { env })).exit).toBe(5)
    expect(service.seen.splice(0).map(({ method }) => method)).toContain('PUT')
  })
})
