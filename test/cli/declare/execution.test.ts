import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../../src/client/client.ts'
import { readDocument, type Wanted } from '../../../src/cli/declare/document.ts'
import { carryOutAll, type Outcome } from '../../../src/cli/declare/execution.ts'
import { exportText } from '../../../src/cli/declare/export-text.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import { readState } from '../../../src/cli/declare/present.ts'
import { sections, type Rows, type State } from '../../../src/cli/declare/state.ts'
import type { HttpRequest } from '../../../src/client/transport.ts'
import { createTenant, dataOf, fence } from '../../service/fixtures.ts'
import { startTestService, type TestService } from '../../service/harness.ts'
import { clientOf } from './in-process.ts'
import { organization } from './rows.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

const never = new AbortController().signal
const scope = { sections, rules: true }
const read = (client: Client): Promise<State> => readState(client, 'acme', scope, never)

const nobody: (outcome: Outcome) => void = () => {}

const apply = async (
  wanted: Wanted,
  client: Client,
  { prune = true, signal = never, told = nobody } = {},
) => {
  const state = await readState(client, wanted.slug, scope, never)
  const { steps } = planFrom(wanted, state, { prune })
  return carryOutAll(steps, { client, org_id: state.org_id, signal, told })
}

const plain = (rows: Rows): unknown =>
  Object.fromEntries(
    Object.entries(rows).map(([section, list]) => [section, list.map(({ key, fields }) => [key, fields])]),
  )

const people = (n: number): string =>
  Array.from(
    { length: n },
    (_, i) =>
      `  - { mobile: "+1202555${String(1000 + i)}", first_name: A, last_name: B, email: a@b.example }\n`,
  ).join('')
const acme = 'svc: 1\norganization: { slug: acme, name: Acme }\n'
const fences = (...names: string[]): string =>
  `geofences:\n${names.map((name) => `  - { name: ${name}, latitude: 1, longitude: 2, radius: 3 }\n`).join('')}`

describe('applying', () => {
  test(
    'makes of whatever the service holds what a file says, and then there is nothing to do',
    { timeout: 120_000 },
    async () => {
      const client = clientOf(service)
      await fc.assert(
        fc.asyncProperty(organization, async (wanted) => {
          const { failed, left } = await apply(wanted, client)
          expect([failed, left]).toEqual([[], []])
          const state = await read(client)
          const { idp: _, ...rows } = state.rows
          expect(plain(rows)).toEqual(plain(wanted.rows))
          expect(planFrom(wanted, state, { prune: true }).steps).toEqual([])
        }),
        { numRuns: 25 },
      )
    },
  )

  test('what was exported and read again is no change, and is the same text each time', async () => {
    const client = clientOf(service)
    await fc.assert(
      fc.asyncProperty(organization, async (wanted) => {
        await apply(wanted, client)
        const state = await read(client)
        const text = exportText(state)
        expect(planFrom(readDocument(text, 'x'), state, { prune: true }).steps).toEqual([])
        expect(exportText(await read(client))).toBe(text)
      }),
      { numRuns: 10 },
    )
  })

  test('brings back who was removed, with the rules of the file and not those of before', async () => {
    const client = clientOf(service)
    const user = (rules: string): Wanted =>
      readDocument(
        `${acme}users:\n  - { mobile: "+12025550101", first_name: A, last_name: B, email: a@b.example, geofences: ${rules} }\n`,
        'x',
      )
    await apply(user('[{ name: Home, latitude: 1, longitude: 2, radius: 3, enabled: true }]'), client)
    await apply(readDocument(`${acme}users: []\n`, 'x'), client)
    expect((await read(client)).rows.users).toEqual([])
    await apply(user('[]'), client)
    expect((await read(client)).rows.users?.[0]?.fields.geofences).toEqual([])
  })

  test('keeps what failed, does the rest, deletes nothing then, and goes on when it is run again', async () => {
    const client = clientOf(service)
    await apply(readDocument(acme + fences('Old'), 'x'), client)
    const wanted = readDocument(`${acme}${fences('A', 'B', 'C')}users:\n${people(2)}`, 'x')
    let broken = true
    const failing = clientOf(service, {
      answer: ({ body }) =>
        broken && body?.includes('"name":"B"')
          ? { status: 422, body: '{"status":"error","message":"no B","data":{"code":"invalid_field"}}' }
          : undefined,
    })
    const told: string[] = []
    const first = await apply(wanted, failing, {
      told: ({ step, error }) => told.push(`${step.key} ${error?.message ?? 'done'}`),
    })
    expect(told.toSorted()).toEqual(['+12025551000 done', '+12025551001 done', 'A done', 'B no B', 'C done'])
    expect(first.left.map(({ action, key }) => [action, key])).toEqual([['delete', 'Old']])
    broken = false
    const second = await apply(wanted, failing)
    expect(second.done.map(({ step }) => [step.action, step.key])).toEqual([
      ['create', 'B'],
      ['delete', 'Old'],
    ])
    expect((await read(client)).rows.geofences?.map(({ key }) => key)).toEqual(['A', 'B', 'C'])
  })

  test('stops between two steps when it is told to, with what is on its way done', async () => {
    const client = clientOf(service)
    const stop = new AbortController()
    const wanted = readDocument(`${acme}users:\n${people(60)}`, 'x')
    let count = 0
    const told = (): void => {
      if (++count === 10) stop.abort()
    }
    const { done, failed, left } = await apply(wanted, client, { signal: stop.signal, told })
    expect(failed).toEqual([])
    expect(done.length).toBeLessThan(40)
    expect(done.length + left.length).toBe(61)
    expect((await read(client)).rows.users).toHaveLength(done.length - 1)
    await apply(wanted, client)
    expect((await read(client)).rows.users).toHaveLength(60)
  })

  test('stops at once where the next step would only meet the same', async () => {
    const { key } = await createTenant(service, 'globex')
    const requests: HttpRequest[] = []
    const foreign = clientOf(service, { key, seen: requests })
    const { failed, left } = await apply(readDocument(`${acme}users:\n${people(40)}`, 'x'), foreign)
    expect(failed).toMatchObject([{ error: { exit: 'forbidden' } }])
    expect(left).toHaveLength(40)
    expect(requests.filter(({ method }) => method !== 'GET')).toHaveLength(1)
  })

  test('tells a new code once, and sends nothing that it does not know', async () => {
    const requests: HttpRequest[] = []
    const client = clientOf(service, { seen: requests })
    const { done } = await apply(
      readDocument(`${acme}auth_codes: [{ label: Berlin, uses: 5 }]\n`, 'x'),
      client,
    )
    expect(done.at(-1)?.code).toMatch(/^[0-9A-Z-]{10,}$/)
    const step = {
      action: 'change',
      section: 'organization',
      key: 'acme',
      id: 1,
      changes: [
        { field: 'owner', after: 'me' },
        { field: 'name', after: 'New' },
      ],
    } as const
    await carryOutAll([{ ...step, changes: [...step.changes] }], {
      client,
      org_id: 1,
      signal: never,
      told: () => {},
    })
    expect(JSON.parse(requests.at(-1)!.body!)).toEqual({ name: 'New' })
  })
})

describe('what the service holds', () => {
  test('is read in few requests, whatever the number of users', async () => {
    const requests: HttpRequest[] = []
    const client = clientOf(service, { seen: requests })
    await apply(readDocument(`${acme}users:\n${people(30)}`, 'x'), client)
    requests.length = 0
    await read(client)
    expect(requests).toHaveLength(7)
  })

  test('is the same of a service without our own routes', async () => {
    const client = clientOf(service)
    await fc.assert(
      fc.asyncProperty(organization, async (wanted) => {
        await apply(wanted, client)
        const other = clientOf(service, {
          answer: ({ url }) =>
            url.includes('/svc/v1/') ? { status: 404, body: '<html>not found</html>' } : undefined,
        })
        expect(await read(other)).toEqual(await read(client))
      }),
      { numRuns: 5 },
    )
  })

  test('sets several of one name apart, and exports the rest', async () => {
    const { id } = await createTenant(service, 'acme')
    for (const name of ['HQ', 'HQ', 'Lab'])
      dataOf(await service.call('POST', `/organization/${id}/create/geo-fence`, { body: { ...fence, name } }))
    const state = await read(clientOf(service))
    expect(state.ambiguous).toEqual([{ section: 'geofences', key: 'HQ', ids: [1, 2] }])
    expect(exportText(state)).toContain('# Left out: 2 geofences are called "HQ"')
    const again = readDocument(exportText(state), 'x')
    expect(again.rows.geofences?.map(({ key }) => key)).toEqual(['Lab'])
    expect(planFrom(again, state, { prune: true }).steps).toEqual([])
  })

  test('holds no id, no secret, no code and no key once it is exported', async () => {
    const { id, key } = await createTenant(service, 'acme')
    await service.call('POST', `/organization/${id}/idp-api-creds`, {
      body: { provider: 'okta', client_id: 'x', client_secret: 'canary-secret' },
    })
    const { code } = dataOf(
      await service.call('POST', `/organization/${id}/create/auth-code`, { body: { label: 'Berlin' } }),
    )
    const text = exportText(await read(clientOf(service)))
    expect(text).toContain('client_secret: (kept)')
    for (const secret of ['canary', code, code.slice(-4), key.slice(0, 12)])
      expect(text).not.toContain(secret)
    expect(text).not.toMatch(/\bid:|created_at|prefix/)
  })
})
