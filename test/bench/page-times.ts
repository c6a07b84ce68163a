import { createStage, type Stage } from '../system/page-stage.ts'
import { median, type Figure } from './figures.ts'
import { createSlowLink } from './slow-link.ts'

// The approver page on the slowest network that developer tools of browsers offer ("Slow 3G"): each request and its answer take
// 2 s, and all together get 50 KB/s. A connection that is opened costs nothing here: its handshakes take one round trip for TCP
// and one for TLS, which no page can avoid.

const roundTripMs = 2_000
const rounds = 3

type Link = Awaited<ReturnType<typeof createSlowLink>>
type Page = Awaited<ReturnType<Stage['openPhone']>>['page']

/** Looks in each frame. A locator looks twice a second after the first moments, which would be part of the figure. */
const shown = (page: Page, selector: string, text = ''): Promise<void> =>
  page.evaluate(`new Promise((resolve) => {
    const isShown = (one) => one.checkVisibility() && one.textContent.includes(${JSON.stringify(text)})
    const look = () =>
      [...document.querySelectorAll(${JSON.stringify(selector)})].some(isShown) ? resolve() : requestAnimationFrame(look)
    look()
  })`)

/** Milliseconds from the start of a navigation until the page shows this. */
const shownAfter = async (page: Page, url: string, selector: string): Promise<number> => {
  const began = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await shown(page, selector)
  return performance.now() - began
}

/** A phone that has never seen the page, until it can sign in. */
const cold = async (stage: Stage, link: Link): Promise<number> => {
  const { page, context } = await stage.openPhone()
  link.slow(true)
  const ms = await shownAfter(page, `${stage.origin}/approver`, 'main button')
  link.slow(false)
  await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await context.close()
  return ms
}

const firstPaint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`

/** A phone that opened the page before and is opened by a notification, until the request can be read; then the decision. */
const warm = async (stage: Stage, link: Link) => {
  const user = await stage.person()
  const { page, context } = await stage.enrolled(user)
  await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await page.goto('about:blank')
  const { request_id } = await stage.ask(user)
  link.slow(true)
  const readable = await shownAfter(page, `${stage.origin}/approver#request=${request_id}`, '.paper h1')
  const paint = Number(await page.evaluate(firstPaint))
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  const began = performance.now()
  await approve.click()
  await shown(page, 'h1', 'Approved')
  const decided = performance.now() - began
  link.slow(false)
  await context.close()
  return { readable, paint, decided }
}

const times = async <T>(measure: () => Promise<T>): Promise<T[]> => {
  const all: T[] = []
  for (let round = 0; round < rounds; round += 1) all.push(await measure())
  return all
}

const figure = (what: string, value: number | undefined, must: number, beyond: number): Figure => ({
  what,
  figure: value,
  unit: ' ms',
  must,
  beyond,
  more: false,
})

type Measured = { cold: number; paint: number; readable: number; decided: number; fetched: string[] }

/** Also the paths that a first visit fetched. */
export const measureTimes = async (): Promise<Measured> => {
  const link = await createSlowLink({ roundTripMs, bytesPerSecond: 50_000 })
  const stage = await createStage({ between: link, notifications: true })
  try {
    const colds = await times(() => cold(stage, link))
    const fetched = link.fetched()
    const warms = await times(() => warm(stage, link))
    const medianOf = (one: 'paint' | 'readable' | 'decided') => median(warms.map((all) => all[one]))
    return {
      cold: median(colds),
      fetched,
      paint: medianOf('paint'),
      readable: medianOf('readable'),
      decided: medianOf('decided'),
    }
  } finally {
    await stage.close()
  }
}

export const timeFigures = (times?: Measured): Figure[] => [
  figure('page, first visit, 2 s round trips: sign-in shown', times?.cold, 7_000, 5_500),
  figure('page, opened before, 2 s round trips: first paint', times?.paint, 1_000, 300),
  figure('page, opened before, 2 s round trips: request readable', times?.readable, 2_400, 2_200),
  figure(
    'page, 2 s round trips: approve to result, less one round trip',
    times && times.decided - roundTripMs,
    1_200,
    500,
  ),
]
