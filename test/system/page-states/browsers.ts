import { withoutCookies } from '../without-cookies.ts'
import type { Steps, Way } from './way.ts'

const inApp =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP3A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0 Mobile Safari/537.36 Instagram 360.0'

const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

/** Browsers that cannot go on. */
export const browsers = (way: Way): Steps => {
  const { stage, phone, page, sees, goto } = way
  let hash = ''
  return {
    'cookies blocked': async () => {
      hash = new URL(await stage.linkFor((await stage.person()).id)).hash
      await page.route('**/svc/v1/**', async (route) => {
        const response = await withoutCookies(route, () => route.fetch())
        const { 'set-cookie': _, ...headers } = response.headers()
        await route.fulfill({ response, headers })
      })
      await goto(hash)
      await way.press(page.locator('main .primary').first())
      await sees('enrollment.cookiesBlocked')
      await page.unroute('**/svc/v1/**')
    },
    'inside another app': async () => {
      await phone.devtools.send('Emulation.setUserAgentOverride', { userAgent: inApp })
      await goto(hash)
      await sees('enrollment.inApp')
    },
    'no screen lock': async () => {
      await phone.devtools.send('Emulation.setUserAgentOverride', {
        userAgent: inApp.replace(/; wv| Instagram.*/g, ''),
      })
      await phone.context.addInitScript(
        'if (self.PublicKeyCredential) PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable = async () => false',
      )
      await goto(new URL(await stage.linkFor((await stage.person()).id)).hash)
      await sees('enrollment.noCheckTitle')
    },
    'no passkeys': async () => {
      await phone.context.addInitScript('delete window.PublicKeyCredential')
      await goto(hash)
      await sees('enrollment.noWebAuthn')
    },
  }
}

/** Safari on iOS, which offers notifications only to apps on the home screen. */
export const safari = (way: Way): Steps => {
  const { stage, phone, page, tap, sees, goto } = way
  return {
    'iPhone, home screen': async () => {
      await phone.devtools.send('Emulation.setUserAgentOverride', { userAgent: iPhone })
      await phone.context.addInitScript('delete window.PushManager')
      await way.openLink(await stage.person())
      await way.press(page.locator('main .primary').first())
      await sees('enrollment.registered')
      await tap('common.continue')
      await sees('notifications.homeScreen')
    },
    'iPhone, notifications': async () => {
      await tap('common.continue')
      await sees('inbox.caughtUp')
      await goto('#notifications')
      await sees('notifications.title')
    },
  }
}
