import type { Route } from 'playwright-core'

/** The browser keeps no cookie of what is fetched here. */
export const withoutCookies = async <T>(route: Route, work: () => Promise<T>): Promise<T> => {
  const context = route.request().frame().page().context()
  const before = await context.cookies()
  const result = await work()
  await context.clearCookies()
  await context.addCookies(before)
  return result
}
