import { describe, expect, test } from 'vitest'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { createPhone, fromPage, fromPhone } from './phone.ts'
import { acme, ada, installHooks, service } from './visit.ts'

installHooks()

const inBoth = async () => {
  const globex = await createTenant(service, 'globex')
  const eve = await createPhone(service, globex.id, 2)
  return { globex, eve, cookie: `${ada.cookie}; ${eve.cookie}` }
}
const sessionIn = (cookie: string, organization?: number | string) =>
  fromPhone(service, 'GET', 'session', {
    cookie,
    headers: {
      ...fromPage,
      ...(organization !== undefined && { 'x-svc-organization': String(organization) }),
    },
  })

describe('sessions in several organizations', () => {
  test('are listed, and the header selects one', async () => {
    const { globex, eve, cookie } = await inBoth()
    expect(dataOf(await sessionIn(cookie))).toMatchObject({
      org_id: acme.id,
      organizations: [acme.id, globex.id],
    })
    for (const [id, phone] of [
      [acme.id, ada],
      [globex.id, eve],
    ] as const)
      expect(dataOf(await sessionIn(cookie, id))).toMatchObject({ org_id: id, device_id: phone.device })
  })

  test.each(['0', '99', 'acme', '01', ''])('are none for the organization %j', async (organization) => {
    const { cookie } = await inBoth()
    expect(refusal(await sessionIn(cookie, organization))[0]).toBe(401)
  })

  test('end one by one', async () => {
    const { globex, cookie } = await inBoth()
    const left = await fromPhone(service, 'DELETE', 'session', {
      cookie,
      headers: { ...fromPage, 'x-svc-organization': String(globex.id) },
    })
    expect(left.headers['set-cookie']).toMatch(new RegExp(`^svc-approver-${globex.id}=; `))
    expect(refusal(await sessionIn(cookie, globex.id))[0]).toBe(401)
    expect(dataOf(await sessionIn(cookie))).toMatchObject({ org_id: acme.id, organizations: [acme.id] })
  })

  test('are never opened by the cookie of another organization', async () => {
    const { globex } = await inBoth()
    const forged = ada.cookie.replace(`svc-approver-${acme.id}=`, `svc-approver-${globex.id}=`)
    expect(refusal(await sessionIn(forged))[0]).toBe(401)
    expect(refusal(await sessionIn(forged, globex.id))[0]).toBe(401)
  })

  test('need a cookie that names its organization', async () => {
    for (const name of ['svc-approver=', 'svc-approver-NaN=']) {
      const nameless = ada.cookie.replace(`svc-approver-${acme.id}=`, name)
      expect(refusal(await sessionIn(nameless))).toEqual([401, 'session_over', []])
    }
  })
})
