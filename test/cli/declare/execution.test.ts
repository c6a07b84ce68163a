import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDocument, type WantedState } from '../../../src/cli/declare/document.ts'
import { exportText } from '../../../src/cli/declare/export-text.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import type { Rows } from '../../../src/cli/declare/state.ts'
import type { HttpRequest } from '../../../src/core/transport.ts'
import { createMember, createTenant, dataOf } from '../../service/fixtures.ts'
import { startTestService, type TestService } from '../../service/harness.ts'
import { acme, apply, clientOf, people, read } from './in-process.ts'
import { organization } from './rows.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

const plain = (rows: Rows): unknown =>
  Object.fromEntries(
    Object.entries(rows).map(([section, list]) => [section, list.map(({ key, fields }) => [key, fields])]),
  )

const fences = (...names: string[]): string =>
  `geofences:\n${names.map((name) => `  - { name: ${name}, latitude: 1, longitude: 2, radius: 3 }\n`).join('')}`

const adaWith = (rules: string): WantedState =>
  readDocument(
    `${acme}users:\n  - { mobile: "+12025550101", first_name: A, last_name: B, email: a@b.example, geofences: ${rules} }\n`,
    'x',
  )

describe('applying', () => {
  test('turns any state of the service into that of the file, after which nothing is left to do', async () => {
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
  })

  test('an export, read again, is no change and always the same text', async () => {
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

  test('restores removed users with the rules of the file, not the earlier ones', async () => {
    const client = clientOf(service)
    await apply(adaWith('[{ name: Home, latitude: 1, longitude: 2, radius: 3, enabled: true }]'), client)
    await apply(readDocument(`${acme}users: []\n`, 'x'), client)
    expect((await read(client)).rows.users).toEqual([])
    await apply(adaWith('[]'), client)
    expect((await read(client)).rows.users?.[0]?.fields.geofences).toEqual([])
  })

  test('treats rejected users as absent, leaves them rejected, and activates them if the file contains them', async () => {
    const { id } = await createTenant(service, 'acme')
    const eve = await createMember(service, id, 1)
    for (const move of ['pending', 'reject'])
      dataOf(await service.call('POST', `/organization/${id}/user/${eve.id}/${move}`))
    const client = clientOf(service)
    await apply(readDocument(`${acme}users: []\n`, 'x'), client)
    expect(dataOf(await service.call('GET', `/organization/${id}/user/${eve.id}`)).state).toBe('rejected')
    await apply(
      readDocument(`${acme}users:\n${people(1).replace('+12025551000', eve.mobile_e164)}`, 'x'),
      client,
    )
    expect((await read(client)).rows.users).toMatchObject([{ id: eve.id, fields: { state: 'active' } }])
  })

  test('records failures, does the rest, then deletes nothing, and continues when it runs again', async () => {
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
    const reported: string[] = []
    const first = await apply(wanted, failing, {
      report: ({ step, error }) => reported.push(`${step.key} ${error?.message ?? 'done'}`),
    })
    expect(reported.toSorted()).toEqual([
      '+12025551000 done',
      '+12025551001 done',
      'A done',
      'B no B',
      'C done',
    ])
    expect(first.left.map(({ action, key }) => [action, key])).toEqual([['delete', 'Old']])
    broken = false
    const second = await apply(wanted, failing)
    expect(second.done.map(({ step }) => [step.action, step.key])).toEqual([
      ['create', 'B'],
      ['delete', 'Old'],
    ])
    expect((await read(client)).rows.geofences?.map(({ key }) => key)).toEqual(['A', 'B', 'C'])
  })

  test('stops between two steps when it is interrupted, after the request in progress', async () => {
    const client = clientOf(service)
    const stop = new AbortController()
    const wanted = readDocument(`${acme}users:\n${people(60)}`, 'x')
    let count = 0
    const report = (): void => {
      if (++count === 10) stop.abort()
    }
    const { done, failed, left } = await apply(wanted, client, { signal: stop.signal, report })
    expect(failed).toEqual([])
    expect(done.length).toBeLessThan(40)
    expect(done.length + left.length).toBe(61)
    expect((await read(client)).rows.users).toHaveLength(done.length - 1)
    await apply(wanted, client)
    expect((await read(client)).rows.users).toHaveLength(60)
  })

  test('stops at once if the next step would fail the same way', async () => {
    const { key } = await createTenant(service, 'globex')
    const requests: HttpRequest[] = []
    const foreign = clientOf(service, { key, seen: requests })
    const { failed, left } = await apply(readDocument(`${acme}users:\n${people(40)}`, 'x'), foreign)
    expect(failed).toMatchObject([{ error: { exit: 'forbidden' } }])
    expect(left).toHaveLength(40)
    expect(requests.filter(({ method }) => method !== 'GET')).toHaveLength(1)
  })

  test('reports a new code', async () => {
    const requests: HttpRequest[] = []
    const client = clientOf(service, { seen: requests })
    const { done } = await apply(
      readDocument(`${acme}auth_codes: [{ label: Berlin, uses: 5 }]\n`, 'x'),
      client,
    )
    expect(done.at(-1)?.code).toMatch(/^[0-9A-Z-]{10,}$/)
  })
})
