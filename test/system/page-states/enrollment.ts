import { confirmPhone, emailLinkFor } from '../../torture/mobile-account.ts'
import type { Person, Steps, Way } from './way.ts'

const email = 'grace@acme.example'

export const newPhone = (way: Way): Steps => {
  const { stage, phone, page, sees, tap, goto } = way
  const start = () => way.press(page.locator('main .primary').first())
  let user: Person
  let hash = ''
  return {
    'sign in': async () => {
      await goto()
      await sees('enrollment.signIn')
    },
    'sign in, unknown phone': async () => {
      await tap('enrollment.signIn')
      await way.seesProblem()
    },
    'sign in, lost device': async () => {
      await goto()
      await way.press(page.locator('summary').first())
      await page.getByText(way.said('devices.lostLast')).waitFor()
    },
    'link, incomplete': async () => {
      await goto('#enroll=nothing')
      await sees('enrollment.linkDamaged')
    },
    'link, unknown': async () => {
      await goto(`#enroll=${'A'.repeat(43)}`)
      await sees('enrollment.linkUnknown')
    },
    'link, on hold': async () => {
      const held = await stage.person()
      hash = new URL(await stage.linkFor(held.id)).hash
      await stage.putOnHold(held)
      await goto(hash)
      await sees('enrollment.onHold')
    },
    'e-mail link': async () => {
      const running = { baseUrl: stage.baseUrl, log: stage.log }
      await confirmPhone(running, stage.service.operatorKey, { email })
      hash = new URL(await emailLinkFor(running, email)).hash
      await goto(hash)
      await sees('enrollment.emailQuestion')
    },
    'e-mail link, confirmed': async () => {
      await tap('enrollment.emailYes')
      await sees('enrollment.emailConfirmed')
    },
    'e-mail link, over': async () => {
      await goto(hash)
      await sees('enrollment.linkOver')
    },
    link: async () => {
      user = await stage.person()
      hash = new URL(await stage.linkFor(user.id)).hash
      await goto(hash)
      await page.locator('#name').waitFor()
    },
    'link, check cancelled': async () => {
      await phone.setOwner(false)
      await start()
      await way.seesProblem()
      await phone.setOwner(true)
    },
    registered: async () => {
      await start()
      await sees('enrollment.registered')
    },
    'offer of notifications': async () => {
      await start()
      await sees('notifications.question')
    },
    'inbox, empty': async () => {
      await tap('common.notNow')
      await sees('inbox.caughtUp')
    },
    'link, used': async () => {
      await goto(hash)
      await sees('enrollment.linkUsed')
    },
    'link, already registered': async () => {
      await way.openLink(user)
      await start()
      await sees('enrollment.alreadyRegistered')
    },
  }
}

export const secondPhone = (way: Way): Steps => {
  const { stage, page, tap, sees, goto } = way
  let user: Person
  const openOther = async (): Promise<void> => {
    const other = await stage.openPhone()
    await other.page.goto(await stage.linkFor(user.id))
    await other.tap('Register this device')
    await other.page.locator('#name').waitFor({ state: 'detached' })
  }
  return {
    'phone, waiting for the other': async () => {
      user = await stage.person()
      const other = await stage.registered(user)
      await other.page.locator('#name').waitFor({ state: 'detached' })
      await way.openLink(user)
      await way.press(page.locator('main .primary').first())
      await sees('enrollment.waitingForDevice')
    },
    'phone, not approved yet': async () => {
      await tap('enrollment.checkAgain')
      await way.seesProblem()
    },
    'inbox, new device': async () => {
      user = await way.enroll()
      const row = page.locator('a[href="#devices"]')
      const before = await row.textContent()
      await openOther()
      await goto()
      await row.and(page.locator('.row').filter({ hasNotText: new RegExp(`^${before}$`) })).waitFor()
    },
    'devices, new one': async () => {
      await goto('#devices')
      await page.locator('.member .primary').waitFor()
    },
    'devices, two': async () => {
      await way.press(page.locator('.member .primary'))
      await page.locator('.outcome:not(:empty)').waitFor()
      await page.locator('.member .links').nth(1).waitFor()
    },
    'device, removing': async () => {
      // The new device stays above while the screen is open.
      await way.press(page.locator('.member').first().locator('.links .button').last())
      await page.locator('.editing .danger').waitFor()
    },
    'devices, removed one': async () => {
      await way.press(page.locator('.editing .danger'))
      await way.press(page.locator('details summary'))
      await page.locator('.people .person').waitFor()
    },
  }
}

export const lostPhone = (way: Way): Steps => {
  const { stage, page, tap, sees, goto } = way
  let user: Person
  return {
    'phone, removed': async () => {
      user = await way.enroll()
      await stage.revokeDevices(user)
      await goto()
      await sees('enrollment.removed')
    },
    'phone, removed, with a new device': async () => {
      const other = await stage.registered(user)
      await other.page.locator('#name').waitFor({ state: 'detached' })
      await tap('enrollment.signIn')
      await page.locator('.member .danger').waitFor()
    },
    'phone, removed, new device refused': async () => {
      await way.press(page.locator('.member .danger'))
      await page.locator('.outcome').waitFor()
    },
    'phone, waiting for an administrator': async () => {
      await way.openLink(user)
      await way.press(page.locator('main .primary').first())
      await sees('enrollment.waitingForAdmin')
    },
    'phone, with a code': async () => {
      await stage.setPolicy({ device_proof: 'otp' })
      await way.openLink(await stage.person())
      await way.press(page.locator('main .primary').first())
      await sees('enrollment.enterCode')
      await stage.setPolicy({ device_proof: 'link' })
    },
    'phone, without the code': async () => {
      await tap('enrollment.confirm')
      await way.seesProblem()
    },
  }
}
