import type { Route } from 'playwright-core'
import { dataOf } from '../service/fixtures.ts'
import type { Phone } from './approver-phone.ts'
import { stage } from './open-stage.ts'

// What goes wrong between the page and the service, once.

export const devicesOf = async ({ id }: { id: number }) =>
  dataOf(
    await stage.service.call('GET', `/svc/v1/organizations/${stage.org.id}/users/${id}/devices`),
  ) as unknown[]

export const endSession = (phone: Phone): Promise<void> => phone.context.clearCookies()

export type Fault = 'lost before' | 'lost after' | '502 of a proxy' | 'captive portal'

const html = { contentType: 'text/html', body: '<h1>Wi-Fi of the hotel</h1>' }

/** The browser keeps no cookie of what is fetched here. */
export const withoutCookies = async <T>(route: Route, work: () => Promise<T>): Promise<T> => {
  const context = route.request().frame().page().context()
  const before = await context.cookies()
  const result = await work()
  await context.clearCookies()
  await context.addCookies(before)
  return result
}

export const faults: Record<Fault, (route: Route) => Promise<unknown>> = {
  'lost before': (route) => route.abort('connectionreset'),
  '502 of a proxy': (route) => route.fulfill({ ...html, status: 502 }),
  'captive portal': (route) => route.fulfill({ ...html, status: 200 }),
  'lost after': async (route) => {
    await withoutCookies(route, () => route.fetch())
    await route.abort('connectionreset')
  },
}

export const everyFault = Object.keys(faults) as Fault[]

/** The first such calls go wrong, each in one of these ways, the others do not. */
export const disturb = async (
  { page }: Phone,
  [method, path]: readonly [string, string],
  ...ways: Fault[]
): Promise<void> => {
  const left = [...ways]
  await page.route(`**${path}`, (route) => {
    const way = route.request().method() === method ? left.shift() : undefined
    return way === undefined ? route.fallback() : faults[way](route)
  })
}

export const calls = {
  beginEnrollment: ['POST', '/svc/v1/approver/enrollment'],
  registerDevice: ['POST', '/svc/v1/devices'],
  listSessions: ['GET', '/svc/v1/approver/sessions'],
  beginSession: ['POST', '/svc/v1/approver/challenge'],
  openSession: ['POST', '/svc/v1/approver/session'],
  sendDeviceCode: ['POST', '/svc/v1/approver/device-code'],
  readConsent: ['POST', '/svc/v1/approver/consent/request'],
  beginConsent: ['POST', '/svc/v1/approver/consent/challenge'],
  giveConsent: ['POST', '/svc/v1/approver/consent'],
} as const
