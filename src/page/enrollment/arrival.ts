import { t } from '../language/text.ts'
import { button } from '../shell/element.ts'
import { showNotice, tellNext } from '../shell/frame.ts'
import { showSignIn } from './sign-in.ts'

/** The service opened a session, and the browser did not keep its cookie. */
const showCookiesBlocked = (again: () => void): void =>
  void showNotice({
    drawing: 'cross',
    tone: 'bad',
    title: t('enrollment.cookiesBlocked'),
    lines: [t('enrollment.cookiesBlockedWhy', { host: location.host })],
    actions: [button(t('common.tryAgain'), 'primary', again)],
  })

type Page = {
  /** Ends what the page does for the person who is signed in. */
  leave: () => void
  change: (next: () => void) => void
  /** `fresh` after a registration. */
  enter: (fresh: boolean) => void
}

/** The way to a session. */
export const createArrival = ({ leave, change, enter }: Page) => {
  // The service has just opened a session: if the browser does not have it, it blocks cookies.
  let isOpened = false

  /** `fresh` after a registration whose answer was lost, and with it the session. */
  const signIn = (fresh = false): void => {
    leave()
    if (fresh) tellNext(t('enrollment.registeredSignIn'))
    const done = (): void => {
      isOpened = true
      enter(fresh)
    }
    change(() => showSignIn({ change, done }))
  }
  return {
    signIn,
    setOpened: (opened: boolean): void => void (isOpened = opened),
    /** The browser has no session. */
    turnAway: (fresh: boolean): void => {
      if (!isOpened) return signIn(fresh)
      isOpened = false
      change(() => showCookiesBlocked(() => signIn(fresh)))
    },
  }
}
