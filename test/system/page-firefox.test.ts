import axe from 'axe-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assert } from '../../src/client/software-authenticator.ts'
import { enroll } from '../service/approver.ts'
import { forcedFlaws } from './page-sight.ts'
import { startFirefox } from './firefox.ts'
import { installHooks, stage } from './open-stage.ts'

// The screens that need no passkey, in Firefox.

installHooks()

type Firefox = Awaited<ReturnType<typeof startFirefox>>

let firefox: Firefox
beforeAll(async () => {
  firefox = await startFirefox({ width: 390, height: 780 })
})
afterAll(() => firefox.stop())

/** The heading of the screen at an address. */
const arrive = async (browser: Firefox, hash: string): Promise<string> => {
  await browser.goto('about:blank')
  await browser.goto(`${stage.origin}/approver${hash}`)
  return browser.evaluate<string>(`new Promise((resolve) => {
    const look = () => {
      const heading = document.querySelector('main h1')
      const isReady = heading && heading.textContent !== 'Loading your requests' &&
        heading.textContent !== 'Loading the request' && !document.querySelector('.reading:not(:empty)')
      if (isReady) resolve(heading.textContent)
      else setTimeout(look, 20)
    }
    look()
  })`)
}

/** The same, with what is wrong with the screen. */
const look = async (hash: string) => {
  const heading = await arrive(firefox, hash)
  await firefox.evaluate(`void (globalThis.axe ?? (0, eval)(${JSON.stringify(axe.source)}))`)
  const flaws = await firefox.evaluate<string[]>(`axe.run().then(({ violations }) => [
    ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['wider than the window'] : []),
  ])`)
  return { heading, flaws }
}

const lookAtAll = async (hashes: string[]) => {
  const seen: Record<string, string> = {}
  for (const hash of hashes) {
    const { heading, flaws } = await look(hash)
    expect([hash, flaws]).toEqual([hash, []])
    seen[hash] = heading
  }
  return seen
}

/** A session of an administrator, whose key is in this process: Firefox has no virtual authenticator. */
const signIn = async (user: { id: number }, browser = firefox): Promise<void> => {
  const { key } = await enroll(stage.service, stage.org.id, String(user.id))
  const post = <D>(path: string, body: object): Promise<D> =>
    browser.evaluate(`fetch('/svc/v1/approver/${path}', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify(body))},
    }).then((response) => response.json()).then(({ data }) => data)`)
  await browser.goto(`${stage.origin}/approver`)
  const { rp_id: rpId, challenge } = await post<{ rp_id: string; challenge: string }>('challenge', {})
  const response = assert(key, { challenge, origin: stage.origin, rpId })
  await post('session', { challenge, response })
}

test('shows the screens of a person who is not signed in', async () => {
  const { hash } = new URL(await stage.linkFor((await stage.person()).id))
  const seen = await lookAtAll(['', '#enroll=nothing', `#verify-email=${'A'.repeat(43)}`, hash])
  expect(Object.values(seen)).toEqual([
    'Sign in',
    'This link is incomplete',
    'This link has expired or was already used',
    'This device can’t check that it’s you',
  ])
})

test('shows the screens of a person who is signed in', async () => {
  const admin = await stage.person()
  await stage.makeAdmin(admin)
  await stage.putOnHold(await stage.person({ first_name: 'Grace' }))
  await signIn(admin)
  const { request_id } = await stage.ask(admin)
  const seen = await lookAtAll([
    '',
    `#request=${request_id}`,
    '#members',
    '#devices',
    '#add-device',
    '#history',
    '#activity',
    '#agents',
    '#notifications',
  ])
  expect(Object.values(seen)).toEqual([
    '1 request is waiting',
    'Deploy 4.2',
    'Members',
    'Devices',
    'Add a device',
    expect.any(String),
    expect.any(String),
    'Agents and terminals',
    'Notifications',
  ])
})

test('keeps borders and states in the colours that a person chose', async () => {
  const browser = await startFirefox({ width: 390, height: 780, ownColours: true })
  try {
    const user = await stage.person()
    await signIn(user, browser)
    const { request_id } = await stage.ask(user, { number: true })
    for (const hash of ['', `#request=${request_id}`, '#devices', '#notifications', '#enroll=nothing']) {
      await arrive(browser, hash)
      expect(await browser.evaluate(`matchMedia('(forced-colors: active)').matches`)).toBe(true)
      expect([hash, await browser.evaluate(forcedFlaws)]).toEqual([hash, []])
    }
  } finally {
    await browser.stop()
  }
})
