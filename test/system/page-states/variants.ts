import { decide, enroll } from '../../service/approver.ts'
import { dataOf } from '../../service/fixtures.ts'
import type { Person, Steps, Way } from './way.ts'

// Rarer states.

/** Links and addresses. */
export const addresses = (way: Way): Steps => {
  const { stage, phone, page, sees, goto } = way
  /** As if the service answered at this address. */
  const openAt = async (address: string): Promise<void> => {
    phone.origins.push(address)
    await page.route(`${address}/**`, async (route) => {
      const { origin: _, ...headers } = route.request().headers()
      const url = route.request().url().replace(address, stage.origin)
      await route.fulfill({ response: await route.fetch({ url, headers }) })
    })
    await page.goto(`${address}/approver`)
  }
  return {
    'link, expired': async () => {
      // A link works for longer than anyone would wait here.
      await page.route('**/approver/enrollment', async (route) => {
        const response = await route.fetch()
        const { data, ...body } = (await response.json()) as { data: object }
        await route.fulfill({ response, json: { ...body, data: { ...data, reason: 'expired' } } })
      })
      await goto(`#enroll=${'A'.repeat(43)}`)
      await sees('enrollment.linkExpired')
      await page.unroute('**/approver/enrollment')
    },
    'address, numeric': async () => {
      await openAt('http://127.0.0.2')
      await sees('common.nameAddress')
    },
    'address, http': async () => {
      await openAt('http://svc.test')
      await sees('common.httpsAddress')
    },
  }
}

/** A person with a browser and a key file. */
export const twoDevices = (way: Way): Steps => {
  const { stage, page, sees, goto } = way
  let user: Person
  let other: Awaited<ReturnType<typeof enroll>>
  const approveThere = async (id: string): Promise<void> =>
    void dataOf(await decide(stage.service, id, other.key))
  return {
    'approved on another device': async () => {
      user = await way.enroll()
      other = await enroll(stage.service, stage.org.id, String(user.id))
      await goto('#devices')
      await way.press(page.locator('.member .primary'))
      await page.locator('.outcome:not(:empty)').waitFor()
      const { request_id } = await stage.ask(user)
      await goto()
      await page.locator('a.card').waitFor()
      await way.openCard()
      await approveThere(request_id)
      await sees('request.approvedElsewhere')
    },
    'history, older ones': async () => {
      // One more than a page.
      for (let n = 1; n <= 30; n++) await approveThere((await stage.ask(user)).request_id)
      await goto('#history')
      await page.getByRole('button', { name: way.said('history.older') }).waitFor()
    },
  }
}

/** A service that is slow, and a membership that ends. */
export const standing = (way: Way): Steps => {
  const { stage, page, tap, sees, goto } = way
  let user: Person
  return {
    'devices, slow connection': async () => {
      user = await way.enroll()
      // Never answered.
      await page.route('**/approver/devices', () => undefined)
      await goto('#devices')
      await page.getByText(way.said('common.slow')).waitFor()
    },
    'sign in, on hold': async () => {
      await page.unroute('**/approver/devices')
      await stage.putOnHold(user)
      await goto()
      await sees('enrollment.onHold')
    },
    'sign in, no longer a member': async () => {
      await stage.accept(user)
      await stage.removeMember(user)
      await tap('enrollment.signIn')
      await sees('enrollment.notMember')
    },
  }
}
