import { ask } from '../../service/approver.ts'
import { dataOf } from '../../service/fixtures.ts'
import { type Person, type Steps, type Way } from './way.ts'

const story = Array.from({ length: 20 }, (_, at) => `Line ${at + 1} of what the requester says.`).join('\n')

/** What an approver does besides a plain yes or no. */
export const answers = (way: Way): Steps => {
  const { stage, page, sees, tap, goto } = way
  let user: Person
  let letGo: () => void
  let withdrawn = ''
  return {
    'inbox, requests of one requester': async () => {
      user = await way.enroll()
      for (const action of ['Deploy 4.2', 'Delete the backups of 2024', 'Rotate the database password'])
        await stage.ask(user, { action, requester: 'GitHub Actions' })
      await page.locator('a.card').nth(2).waitFor()
    },
    'request, deny all': async () => {
      await way.openCard()
      await way.press(page.locator('.bar ~ * .links .button').last())
      await page.locator('.plain-list').waitFor()
    },
    'denied, all': async () => {
      await way.press(page.locator('.step .danger'))
      await page.locator('.notice .bad').waitFor()
    },
    'request, folded': async () => {
      await way.done()
      await stage.ask(user, { action: 'Deploy 4.2', reason: story, number: true })
      await way.openCard()
    },
    'request, all of it': async () => {
      await tap('request.showAll')
      await page.locator('.folded').waitFor({ state: 'detached' })
    },
    'request, sending': async () => {
      await page.route('**/decide', async (route) => {
        await new Promise<void>((resolve) => (letGo = resolve))
        await route.continue()
      })
      await way.approve()
      await page.getByRole('heading', { name: way.said('request.enterNumber') }).waitFor()
      await page.locator('.digit').first().fill('00')
      await way.approve()
      await page.getByText(way.said('request.sending')).waitFor()
    },
    'request, wrong number': async () => {
      letGo()
      await way.seesProblem()
      await page.unroute('**/decide')
    },
    'denied, wrong twice': async () => {
      await page.locator('.digit').first().fill('00')
      await way.approve()
      await page.getByText(way.said('request.wrongTwice')).waitFor()
    },
    'new request': async () => {
      await goto('#devices')
      await sees('devices.title')
      withdrawn = (await stage.ask(user)).request_id
      await page.locator('.arrival').waitFor()
    },
    'request, little time': async () => {
      await stage.service.call('POST', `/svc/v1/approvals/${withdrawn}/withdraw`, { body: {} })
      await goto()
      await sees('inbox.caughtUp')
      // With a key of its own, because a key may ask a person only five times in ten minutes.
      const body = { name: 'deploys', org_id: stage.org.id, scopes: ['ask'] }
      const { key } = dataOf(await stage.service.call('POST', '/svc/v1/keys', { body }))
      dataOf(await ask(stage.service, user, { lifetime_s: 30 }, key))
      await way.openCard()
      await page.locator('.left.short').waitFor()
    },
    'approved, in time': async () => {
      await way.approve()
      await sees('request.approved')
    },
  }
}

export const reports = (way: Way): Steps => {
  const { stage, page, tap, sees, goto } = way
  const ids: string[] = []
  return {
    'denied, reported': async () => {
      const user = await way.enroll()
      for (const action of ['Deploy 4.2', 'Deploy 4.3'])
        ids.push((await stage.ask(user, { action })).request_id)
      await way.openCard()
      await tap('request.notMe')
      await tap('request.denyAndReport')
      await sees('request.denied')
    },
    'mutes, one': async () => {
      await goto('#mutes')
      await page.locator('.member').waitFor()
    },
    'mutes, lifted': async () => {
      await way.press(page.locator('.member .button'))
      await page.locator('.outcome').waitFor()
    },
    'ended by a report': async () => {
      await goto(`#request=${ids[1]}`)
      await sees('request.ended')
    },
  }
}

/** A place is required, and the phone does not say where it is. */
export const places = (way: Way): Steps => {
  const { stage, phone, page, tap, sees } = way
  return {
    'offer of location': async () => {
      const user = await stage.person()
      await stage.setFence(user)
      await phone.context.grantPermissions([], { origin: stage.origin })
      await way.openLink(user)
      await way.press(page.locator('main .primary').first())
      await sees('enrollment.registered')
      await tap('common.continue')
      await sees('notifications.locationQuestion')
      await stage.ask(user)
    },
    'request, at a place': async () => {
      await tap('common.notNow')
      await page.locator('a.card').waitFor()
      await way.openCard()
      await page.locator('.warning:not(:empty)').first().waitFor()
    },
    'request, no location': async () => {
      await way.approve()
      await sees('request.noLocationShared')
    },
    'not approved, no location': async () => {
      await tap('request.approveWithout')
      await sees('request.notApproved')
    },
  }
}
