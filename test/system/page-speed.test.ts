import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Phone } from './page-phone.ts'
import { installHooksBehindProxy, network, open, stage } from './open-stage.ts'

// What makes the page fast must not make it wrong: its cache, and one call for all.

installHooksBehindProxy()

const built = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../dist/page/${name}`, import.meta.url)), 'utf8')
const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')

const [, version = ''] = /app\.js\?v=([\w-]+)/.exec(built('index.html')) ?? []
const nextVersion = 'next-version'

/** The files of the next release: another title, and a worker that knows their hashes. */
const nextRelease = (): Record<string, string> => {
  const files: Record<string, string> = {}
  for (const name of ['index.html', 'app.js', 'further.js'])
    files[name] = built(name).replaceAll(version, nextVersion).replace('<title>', '<title>New ')
  let worker = built('sw.js').replaceAll(version, nextVersion)
  for (const [name, text] of Object.entries(files))
    worker = worker.replaceAll(hashOf(built(name)), hashOf(text))
  return { ...files, 'sw.js': worker }
}

/** From now on, these files come from the next release. */
const release = (names: readonly string[]): void => {
  const files = nextRelease()
  for (const name of names) {
    const path = name === 'index.html' ? /^\/approver\/?$/ : new RegExp(`/approver/${name}(?:\\?|$)`)
    void network.fail('GET', path, () => ({ body: files[name]! }))
  }
}

/** A phone with its worker, which controls the page from the start. */
const withWorker = async (): Promise<Phone & { user: { id: number; mobile: string } }> => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.page.reload()
  await phone.sees('No open requests')
  return { ...phone, user }
}

/** The versions whose files the browser has. */
const cached = ({ page }: Phone): Promise<string[]> => page.evaluate('caches.keys()')
/** The title of the page that starts next, after the browser looked for a new worker, and what it says of its workers. */
const nextTitle = async ({ page }: Phone): Promise<string> =>
  page.evaluate(`(async () => {
    const registration = await navigator.serviceWorker.getRegistration()
    const failure = await registration.update().then(() => '', String)
    const title = /<title>([^<]*)/.exec(await (await fetch('/approver')).text())[1]
    const { installing, waiting, active } = registration
    return [title, failure, installing?.state, waiting?.state, active?.state].join('; ')
  })()`)

describe('a new release', () => {
  test('is used at the next start, and an open page goes on with its own files', async () => {
    const phone = await withWorker()
    release(['index.html', 'app.js', 'sw.js'])
    await expect.poll(() => nextTitle(phone)).toMatch(/^New /)
    const own = `fetch('/approver/app.js?v=${version}').then((one) => one.text())`
    expect(hashOf(await phone.page.evaluate(own))).toBe(hashOf(built('app.js')))
    const { request_id } = await stage.ask(phone.user)
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.sees('Approved')
    const startAgain = async (): Promise<void> => {
      await phone.page.goto('about:blank')
      await phone.page.goto(`${stage.origin}/approver`)
      await phone.sees('No open requests')
    }
    await startAgain()
    expect(await phone.page.evaluate(`document.querySelector('script').src`)).toMatch(`?v=${nextVersion}`)
    // A start that finds the page before it still open leaves the files of that version to the start after it.
    const cachedNext = (): Promise<string[]> => startAgain().then(() => cached(phone))
    await expect.poll(cachedNext).not.toContain(`approver-${version}`)
    expect(phone.misdeeds).toEqual([])
  })

  test('never starts within a page of the version before, which says so where it needs one more file', async () => {
    const phone = await withWorker()
    release(['index.html', 'app.js', 'further.js', 'sw.js'])
    await expect.poll(() => nextTitle(phone)).toMatch(/^New /)
    await phone.page.getByRole('link', { name: 'Your decisions' }).click()
    await phone.sees('No connection')
    await phone.tap('Try again')
    await phone.sees('Your decisions')
    expect(await phone.page.evaluate(`document.querySelector('script').src`)).toMatch(`?v=${nextVersion}`)
  })

  test('is not used while a node of the version before answers in between', async () => {
    const phone = await withWorker()
    release(['index.html', 'sw.js'])
    expect(await nextTitle(phone)).not.toMatch(/^New /)
    await phone.page.reload()
    await phone.sees('No open requests')
    expect(await nextTitle(phone)).not.toMatch(/^New /)
    release(['app.js'])
    await expect.poll(() => nextTitle(phone)).toMatch(/^New /)
  })
})

test('a service of the version before that lacks a call is named, and not called unreachable', async () => {
  const { user: _, ...phone } = await withWorker()
  const body = JSON.stringify({
    status: 'error',
    message: 'Route not found',
    data: { code: 'no_such_route' },
  })
  void network.fail('GET', /approver\/agents$/, () => ({ status: 404, body }))
  await phone.page.getByRole('link', { name: 'Agents and terminals' }).click()
  await phone.page.getByRole('status').getByText('different versions').waitFor()
  network.mend()
  await phone.page.reload()
  await phone.sees('Agents and terminals')
  const list = phone.page.getByText('No agent or terminal is signed in as you.')
  await expect(list.waitFor()).resolves.toBeUndefined()
})

describe('the start', () => {
  test('needs one answer of the service to show the request, and no other', async () => {
    const { user, ...phone } = await withWorker()
    const { request_id } = await stage.ask(user)
    await phone.page.goto('about:blank')
    void network.fail('GET', /^\/(?!svc\/v1\/approver\/sessions)/, 'stalled')
    const reads: string[] = []
    phone.page.on(
      'request',
      (one) => void (one.url().endsWith('/sessions?wait_s=1') && reads.push(one.url())),
    )
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    await phone.page.getByRole('heading', { name: 'Deploy 4.2' }).waitFor()
    const approve = phone.page.getByRole('button', { name: 'Approve', exact: true })
    await approve.waitFor()
    expect(reads).toHaveLength(1)
  })

  test('moves nothing that is already there', async () => {
    const { user, ...phone } = await withWorker()
    await stage.ask(user)
    await phone.page.setViewportSize({ width: 1000, height: 600 })
    await phone.page.reload()
    await phone.sees('1 request is waiting')
    const shifts = `new Promise((resolve) => {
      let sum = 0
      new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value })
        .observe({ type: 'layout-shift', buffered: true })
      setTimeout(() => resolve(sum), 100)
    })`
    expect(await phone.page.evaluate(shifts)).toBe(0)
  })
})
