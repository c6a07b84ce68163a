import type { Steps, Way } from './way.ts'

export const newPhone = (way: Way): Steps => {
  const { stage, phone, page, sees, tap, goto } = way
  const start = () => way.press(page.locator('main .primary').first())
  return {
    'sign in': async () => {
      await goto()
      await sees('enrollment.signIn')
    },
    'sign in, unknown phone': async () => {
      await tap('enrollment.signIn')
      await way.seesProblem()
    },
    'link, incomplete': async () => {
      await goto('#enroll=nothing')
      await sees('enrollment.linkDamaged')
    },
    'link, unknown': async () => {
      await goto(`#enroll=${'A'.repeat(43)}`)
      await page.locator('.notice h1').waitFor()
    },
    'e-mail link': async () => {
      await goto(`#verify-email=${'A'.repeat(43)}`)
      await sees('enrollment.emailQuestion')
    },
    link: async () => way.openLink(await stage.person()),
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
  }
}

export const secondPhone = (way: Way): Steps => {
  const { stage, page, tap, sees } = way
  return {
    'phone, waiting for the other': async () => {
      const user = await stage.person()
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
  }
}

export const lostPhone = (way: Way): Steps => {
  const { stage, tap, sees, goto } = way
  return {
    'phone, removed': async () => {
      const user = await stage.person()
      await way.openLink(user)
      await way.register()
      await stage.revokeDevices(user)
      await goto()
      await sees('enrollment.signIn')
      await tap('enrollment.signIn')
      await sees('enrollment.removed')
    },
  }
}
