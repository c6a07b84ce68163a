import axe from 'axe-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assert } from '../../src/client/software-authenticator.ts'
import { enroll } from '../service/approver.ts'
import { startFirefox } from './firefox.ts'
import { installHooks, stage } from './open-stage.ts'

// The screens that need no passkey, in Firefox.

installHooks()

let firefox: Awaited<ReturnType<typeof startFirefox>>
beforeAll(async () => {
  firefox = await startFirefox({ width: 390, height: 780 })
}, 60_000)
afterAll(() => firefox.stop())

/** The heading of the screen at an address, with what is wrong with it. */
const look = async (hash: string) => {
  await firefox.goto('about:blank')
  await firefox.goto(`${stage.origin}/approver${hash}`)
  const heading = await firefox.evaluate<string>(`new Promise((resolve) => {
    const look = () => {
      const heading = document.querySelector('main h1')
      const isReady = heading && !document.querySelector('main [aria-busy=true], .reading:not(:empty)')
      if (isReady) resolve(heading.textContent)
      else setTimeout(look, 20)
    }
    look()
  })`)
  await firefox.evaluate(`void (globalThis.axe ?? (0, eval)(${JSON.stringify(axe.source)}))`)
  const flaws = await firefox.evaluate<string[]>(`axe.run().then(({ violations }) => [
    ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
    ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []),
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
const signIn = async (user: { id: number }): Promise<void> => {
  const { key } = await enroll(stage.service, stage.org.id, String(user.id))
  const post = <D>(path: string, body: object): Promise<D> =>
    firefox.evaluate(`fetch('/svc/v1/approver/${path}', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify(body))},
    }).then((response) => response.json()).then(({ data }) => data)`)
  await firefox.goto(`${stage.origin}/approver`)
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
    'Is this your e-mail address?',
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
    'Agents',
    'Notifications',
  ])
})
