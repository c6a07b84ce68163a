import { createHash, randomBytes } from 'node:crypto'
import { subscribeBrowser } from '../../service/page/push-service.ts'
import type { Stage } from '../page-stage.ts'
import type { Steps, Way } from './way.ts'

// Headless Chromium has no push service, so the subscription of the browser is set here.
const pushing = (permission: 'granted' | 'denied'): string => {
  const { endpoint, keys } = subscribeBrowser('http://127.0.0.1:9/p').subscription
  const subscription = `{ toJSON: () => (${JSON.stringify({ endpoint, keys })}), unsubscribe: async () => {} }`
  return `
    let present = null
    PushManager.prototype.getSubscription = async () => present
    PushManager.prototype.subscribe = async () => (present = ${subscription})
    Notification.requestPermission = async () => '${permission}'
    Object.defineProperty(Notification, 'permission', { configurable: true, get: () => '${permission}' })`
}

export const settings = (way: Way): Steps => {
  const { page, phone, tap, sees, goto } = way
  return {
    'notifications, off': async () => {
      await way.enroll()
      await phone.context.addInitScript(pushing('granted'))
      await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
      await goto('#notifications')
      await sees('notifications.title')
    },
    'notifications, on': async () => {
      await tap('notifications.turnOn')
      await page.locator('#quiet').waitFor()
    },
    'notifications, quiet hours': async () => {
      await way.press(page.locator('#quiet'))
      await page.getByText(way.said('notifications.quietKept')).waitFor()
    },
    'notifications, tested': async () => {
      await tap('notifications.test')
      await page.getByText(way.said('notifications.testSent')).waitFor()
    },
    'notifications, blocked': async () => {
      await phone.context.addInitScript(pushing('denied'))
      await goto('#notifications')
      await sees('notifications.title')
    },
  }
}

/** A client as it is before its person allows anything; `connect` gets its token. */
const createClient = async ({ origin }: Stage) => {
  const callback = `${origin.replace('localhost', '127.0.0.1')}/callback`
  const post = async (path: string, headers: object, body: string): Promise<Record<string, string>> => {
    const answer = await fetch(`${origin}${path}`, { method: 'POST', headers: { ...headers }, body })
    return (await answer.json()) as Record<string, string>
  }
  const metadata = { client_name: 'Robo Coder', redirect_uris: [callback], application_type: 'native' }
  const json = { 'content-type': 'application/json' }
  const { client_id = '' } = await post('/register', json, JSON.stringify(metadata))
  const verifier = randomBytes(32).toString('base64url')
  const common = { client_id, redirect_uri: callback, resource: `${origin}/mcp` }
  const query = new URLSearchParams({
    ...common,
    response_type: 'code',
    scope: 'ask',
    state: 'a-state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return {
    callback: `${callback}**`,
    address: `${origin}/authorize?${query}`,
    connect: (code: string) =>
      post(
        '/token',
        { 'content-type': 'application/x-www-form-urlencoded' },
        new URLSearchParams({
          ...common,
          grant_type: 'authorization_code',
          code,
          code_verifier: verifier,
        }).toString(),
      ),
  }
}

export const agents = (way: Way): Steps => {
  const { stage, page, tap, sees, goto } = way
  let client: Awaited<ReturnType<typeof createClient>>
  return {
    'agents, none': async () => {
      await way.enroll()
      await goto('#agents')
      await sees('agents.title')
    },
    'agent asks': async () => {
      client = await createClient(stage)
      await page.goto('about:blank')
      await page.goto(client.address)
      await sees('agents.question')
      await page.locator('#agent-name').waitFor()
    },
    'agent allowed': async () => {
      await page.route(client.callback, (route) => route.fulfill({ status: 204 }))
      const back = page.waitForRequest(client.callback)
      await tap('agents.allow')
      const code = new URL((await back).url()).searchParams.get('code')!
      await client.connect(code)
      await sees('agents.given')
    },
    agents: async () => {
      await goto('#agents')
      await page.locator('.member').waitFor()
    },
    'agents, request over': async () => {
      await goto('#authorize=nothing')
      await sees('agents.ended')
    },
  }
}
