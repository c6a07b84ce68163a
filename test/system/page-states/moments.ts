import { createHash } from 'node:crypto'
import type { Route } from 'playwright-core'
import { enroll } from '../../service/approver.ts'
import { command } from '../../service/approvals/command-subject.ts'
import { dataOf } from '../../service/fixtures.ts'
import { lapse } from '../page-phone.ts'
import type { Person, Steps, Way } from './way.ts'

/** What a request goes through between the tap and its result. */
export const moments = (way: Way): Steps => {
  const { stage, phone, page, sees, goto } = way
  const { devtools, authenticatorId } = phone
  const outcomes = '**/approver/requests/*'
  let user: Person
  let id = ''
  let held: Promise<Route>
  /** The next call there gets no answer before the test gives one. */
  const hold = async (calls: string): Promise<void> => {
    let take!: (route: Route) => void
    held = new Promise((resolve) => (take = resolve))
    await page.route(calls, take)
  }
  const reads = (key: string): Promise<void> => page.getByText(way.said(key)).first().waitFor()
  const opened = async (): Promise<void> => {
    id = (await stage.ask(user)).request_id
    await goto(`#request=${id}`)
    await page.locator('.bar .primary').waitFor()
  }
  const setFinger = (enabled: boolean): Promise<unknown> =>
    devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
  return {
    'request, checking': async () => {
      user = await way.enroll()
      await opened()
      await setFinger(false)
      await way.approve()
      await reads('request.waitingForDevice')
    },
    'request, looking': async () => {
      await hold(outcomes)
      await stage.service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { body: {} })
      await reads('request.checkingResult')
      await setFinger(true)
    },
    'withdrawn, while it was checked': async () => {
      await (await held).continue()
      await page.unroute(outcomes)
      await sees('request.withdrawn')
    },
    'request, slow': async () => {
      await opened()
      await hold('**/decide')
      await way.approve()
      await reads('request.sendingSlow')
    },
    'request, unsure': async () => {
      const decided = await held
      await hold(outcomes)
      await decided.abort()
      await reads('request.noAnswer')
    },
    'request, not arrived': async () => {
      await (await held).continue()
      await reads('request.notArrived')
      await page.unroute(outcomes)
      await page.unroute('**/decide')
    },
    'request, unknown': async () => {
      await page.route(outcomes, () => undefined)
      await goto('#request=apr_nothing')
      await sees('request.loading')
    },
  }
}

/** What a screen shows before it can show what it is for, and requests that say more than others. */
export const further = (way: Way): Steps => {
  const { stage, phone, page, tap, sees, goto } = way
  let user: Person
  const create = async (path: string, body: object, key?: string) =>
    dataOf(await stage.service.call('POST', `/svc/v1/${path}`, { body, key }))
  const terminalAsks = async (): Promise<string> => {
    const installation = createHash('sha256').update(String(user.id)).digest('base64url').slice(0, 22)
    const fields = { client_id: 'svc', installation, host: 'build-machine', scope: 'ask' }
    const answer = await fetch(`${stage.origin}/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    })
    return ((await answer.json()) as { user_code: string }).user_code
  }
  return {
    'groups, none': async () => {
      user = await way.enroll()
      await goto('#groups')
      await page.getByText(way.said('groups.none')).waitFor()
    },
    'device, removing the last': async () => {
      await goto('#devices')
      await way.press(page.locator('.member .links .button').last())
      await page.locator('.editing .danger').waitFor()
    },
    'devices, not read': async () => {
      await page.route('**/approver/devices', (route) => route.abort())
      await goto('#devices')
      await page.getByText(way.said('common.cantReadNow')).waitFor()
      await page.unroute('**/approver/devices')
    },
    'devices, to confirm': async () => {
      await lapse(phone)
      await goto('#devices')
      await page.getByRole('dialog').waitFor()
    },
    'devices, not confirmed': async () => {
      await tap('common.notNow')
      await page.getByRole('button', { name: way.said('common.confirmTitle') }).waitFor()
    },
    'devices, confirmed': async () => {
      await tap('common.confirmTitle')
      await tap('enrollment.confirm')
      await page.locator('.member').waitFor()
    },
    'terminal asks': async () => {
      const code = await terminalAsks()
      await goto('#agents')
      await page.locator('input').fill(code)
      await tap('common.continue')
      await sees('agents.question')
      await page.locator('.warning').waitFor()
    },
    'terminal signed in': async () => {
      await tap('agents.allow')
      await sees('agents.signedIn')
    },
    'request of a tool': async () => {
      const args = { namespace: 'billing', replicas: 3, notes: ['one', 'two'] }
      const data = { server: 'cluster', tool: 'scale', arguments: args }
      await stage.ask(user, { action: undefined, subject: { type: 'tool_call', data } })
      await goto()
      await way.openCard()
    },
    'request, allow again': async () => {
      const org = `organizations/${stage.org.id}`
      const match = { type: 'command', argv: ['systemctl', 'restart', '*', String(user.id)] }
      const name = `sre-${user.id}`
      const members = [user, await stage.person()].map(({ id }) => String(id))
      await enroll(stage.service, stage.org.id, members[1]!)
      await create(`${org}/groups`, { name, members })
      await create(`${org}/rules`, { name, match, who: [`@${name}`], grant: {} })
      const { key } = await create('keys', { name, org_id: stage.org.id, scopes: ['ask'] })
      const subject = command('systemctl', 'restart', 'web-1', String(user.id))
      const { request_id } = await create('approvals', { subject }, key)
      await goto(`#request=${request_id}`)
      await page.locator('.bar .primary').waitFor()
      await way.readToEnd()
      await tap('request.allowAgain')
      await page.getByRole('heading', { name: way.said('request.allowAgain') }).waitFor()
    },
  }
}
