import { beforeEach, describe, expect, test } from 'vitest'
import { ask } from '../approver.ts'
import { day, minute } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { createPhone, fromPage, fromPhone, type Phone } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

let globex: { id: number; key: string }
let eve: Phone
let cookie: string
beforeEach(async () => {
  globex = await createTenant(service, 'globex')
  eve = await createPhone(service, globex.id, 2)
  cookie = `${ada.cookie}; ${eve.cookie}`
})

type Listed = {
  org_id: number
  device_id: string
  requests: { request_id: string }[]
  waiting_members: number | null
  waiting_devices: number
  waiting_reviews: string[]
  away: object | null
}

const list = (query = '', cookies = cookie, headers: Record<string, string> = {}) =>
  fromPhone(service, 'GET', `sessions${query}`, { cookie: cookies, headers: { ...fromPage, ...headers } })
const read = async (query = ''): Promise<{ mark: string; sessions: Listed[] }> => dataOf(await list(query))
const request = async (phone: Phone, key: string): Promise<{ request_id: string }> =>
  dataOf(await ask(service, phone, {}, key))

describe('the sessions of a browser', () => {
  test('come in one answer, each as it is read alone, with the requests of its organization', async () => {
    const ids = [await request(ada, acme.key), await request(eve, globex.key)].map((one) => one.request_id)
    const { sessions } = await read()
    expect(sessions.map(({ requests }) => requests.map(({ request_id }) => request_id))).toEqual([
      [ids[0]],
      [ids[1]],
    ])
    for (const { requests: _, ...listed } of sessions) {
      const { waiting_members, waiting_devices, waiting_reviews, away, ...session } = listed
      expect([waiting_members, waiting_devices, waiting_reviews, away]).toEqual([null, 0, [], null])
      const headers = { ...fromPage, 'x-svc-organization': String(session.org_id) }
      const alone = dataOf(await fromPhone(service, 'GET', 'session', { cookie, headers }))
      expect({ ...session, organizations: [session.org_id] }).toEqual(alone)
    }
    expect(sessions[0]).toMatchObject({ organizations: [acme.id, globex.id] })
  })

  test('are none, without a wait, for a browser that is not signed in', async () => {
    for (const cookies of ['', `svc-approver-${acme.id}=${'x'.repeat(43)}`])
      expect(dataOf(await list('?wait_s=30&seen=x', cookies)).sessions).toEqual([])
    expect(
      (await service.call('GET', '/svc/v1/approver/sessions', { key: acme.key })).body.data.sessions,
    ).toEqual([])
  })

  test('are one if the call names an organization', async () => {
    const { sessions } = dataOf(await list('', cookie, { 'x-svc-organization': String(globex.id) }))
    expect(sessions).toMatchObject([{ org_id: globex.id, device_id: eve.device }])
  })

  test('are found by the organization that a call names, however many there are', async () => {
    const made = []
    for (let at = 0; at < 9; at++) made.push(await createTenant(service, `other-${at}`))
    const { id } = made.at(-1)!
    const last = await createPhone(service, id, 3)
    const others = [acme, globex, ...made].filter((one) => one.id !== id)
    const cookies = [...others.map((one) => `svc-approver-${one.id}=${'x'.repeat(43)}`), last.cookie].join(
      '; ',
    )
    const headers = { 'x-svc-organization': String(id) }
    expect(dataOf(await list('', cookies, headers)).sessions).toMatchObject([{ org_id: id }])
  })

  test('wake a waiting page with a request in either organization', async () => {
    for (const [phone, key] of [
      [eve, globex.key],
      [ada, acme.key],
    ] as const) {
      const { mark } = await read()
      const waiting = read(`?wait_s=30&seen=${mark}`)
      const { request_id } = await request(phone, key)
      const woken = await waiting
      expect(woken.mark).not.toBe(mark)
      expect(JSON.stringify(woken.sessions)).toContain(request_id)
    }
  })

  test('wake a waiting page when one of them ends, and leave it out', async () => {
    const { mark } = await read()
    const waiting = read(`?wait_s=30&seen=${mark}`)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    expect((await waiting).sessions).toMatchObject([{ org_id: globex.id }])
  })

  test('wake a waiting page when the last of them ends', async () => {
    const { mark } = dataOf(await list('', eve.cookie))
    const waiting = list(`?wait_s=30&seen=${mark}`, eve.cookie)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${globex.id}/devices/${eve.device}`))
    expect(dataOf(await waiting).sessions).toEqual([])
  })

  test('wake a waiting page when a request expires', async () => {
    await request(eve, globex.key)
    const { mark } = await read()
    const waiting = read(`?wait_s=30&seen=${mark}`)
    clock.tick(5 * minute)
    expect((await waiting).sessions.flatMap(({ requests }) => requests)).toEqual([])
  })

  test('never include one with the cookie of another organization', async () => {
    await request(ada, acme.key)
    const forged = ada.cookie.replace(`svc-approver-${acme.id}=`, `svc-approver-${globex.id}=`)
    expect(dataOf(await list('', forged)).sessions).toEqual([])
  })

  test('all stay open for 90 days after they were last listed', async () => {
    for (let i = 0; i < 4; i++) {
      clock.tick(60 * day)
      expect((await read()).sessions).toHaveLength(2)
      // After the write that keeps the sessions open.
      await service.storage.write(async () => undefined, { org: null })
    }
    clock.tick(90 * day)
    expect(dataOf(await list()).sessions).toEqual([])
  })
})
