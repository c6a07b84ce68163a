import type { Route } from 'playwright-core'
import { dataOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { stage } from './open-stage.ts'
import { withoutCookies } from './without-cookies.ts'

// What goes wrong between the page and the service, once.

export const devicesOf = async ({ id }: { id: number }) =>
  dataOf(
    await stage.service.call('GET', `/svc/v1/organizations/${stage.org.id}/users/${id}/devices`),
  ) as unknown[]

export const endSession = (phone: Phone): Promise<void> => phone.context.clearCookies()

type Fault = 'lost before' | 'lost after'

const faults: Record<Fault, (route: Route) => Promise<unknown>> = {
  'lost before': (route) => route.abort('connectionreset'),
  'lost after': async (route) => {
    await withoutCookies(route, () => route.fetch())
    await route.abort('connectionreset')
  },
}

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

export const calls = { registerDevice: ['POST', '/svc/v1/devices'] } as const
