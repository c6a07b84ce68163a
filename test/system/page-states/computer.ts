import type { Steps, Way } from './way.ts'

/** What only a computer shows, at an address that a phone can open. */
export const computer = (way: Way): Steps => {
  const { stage, phone, page, tap, sees, goto } = way
  return {
    'computer, sign in': async () => {
      await goto()
      await sees('enrollment.signIn')
      await way.press(page.locator('summary').last())
      await page.locator('svg.code').waitFor()
    },
    'computer, link': async () => {
      await goto(new URL(await stage.linkFor((await stage.person()).id)).hash)
      await way.press(page.locator('summary').last())
      await page.locator('svg.code').waitFor()
    },
    'computer, accepted kinds': async () => {
      await stage.setPolicy({ authenticators: ['security_key'] })
      await goto(new URL(await stage.linkFor((await stage.person()).id)).hash)
      await page.locator('#name').waitFor()
      await stage.setPolicy({ authenticators: [] })
    },
    'computer, link for another device': async () => {
      await way.enroll()
      await goto('#add-device')
      await sees('devices.add')
      await tap('devices.createLink')
      await page.locator('svg.code').waitFor()
    },
    'computer, no authenticator': async () => {
      await phone.context.addInitScript(
        'if (self.PublicKeyCredential) PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable = async () => false',
      )
      await goto(new URL(await stage.linkFor((await stage.person()).id)).hash)
      await sees('enrollment.noCheckTitle')
      await page.locator('svg.code').waitFor()
    },
  }
}
