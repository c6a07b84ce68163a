import { receiveRedirect } from '../../../src/cli/profile/browser.ts'
import type { Steps, Way } from './way.ts'

// Where a browser is sent that signed in a terminal, which serves this page itself.

export const terminal = ({ page, phone }: Way): Steps => {
  const sentBack = async (query: string): Promise<void> => {
    const { redirect_uri, received, close } = await receiveRedirect(AbortSignal.timeout(60_000))
    const ended = received({ state: 's', issuer: 'http://svc' }).catch(() => undefined)
    await page.goto(`${redirect_uri}?state=s&iss=http%3A%2F%2Fsvc&${query}`)
    await ended
    close()
    // The way to the terminal leads off the page, and nothing else may.
    const there = phone.misdeeds.findIndex((one) => one.includes(`:${new URL(redirect_uri).port}/?state=s`))
    if (there !== -1) phone.misdeeds.splice(there, 1)
  }
  return {
    'terminal, signed in with the browser': () => sentBack('code=c'),
    'terminal, denied in the browser': () => sentBack('error=access_denied'),
  }
}
