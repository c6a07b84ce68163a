import { call, onlyOnce, Refused } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { clearToken, tokenInAddress, type Token } from '../shell/address.ts'
import { button } from '../shell/element.ts'
import { problemLine, sentenceFor, showNotice, words } from '../shell/frame.ts'
import { enroll, type Ends } from './enrollment.ts'

/** The tap uses up the token, not the opening of the link: mail scanners open links too. */
const confirmEmail = (token: string): void => {
  if (token === 'damaged') return void showNotice(words('enrollment.linkDamaged', 'clock'))
  const problem = problemLine()
  const once = onlyOnce()
  const submit = (): Promise<void> =>
    problem.attempt(
      async () => {
        await call('verifyEmail', { token }, { once })
        clearToken()
        showNotice(words('enrollment.emailConfirmed', 'phone', 'good'))
      },
      (error) => {
        if (!(error instanceof Refused)) return problem.say(t('enrollment.emailUnreachable'))
        if (error.status !== 410) return problem.say(sentenceFor(error))
        showNotice({
          drawing: 'clock',
          title: t('enrollment.linkOver'),
          lines: [t('enrollment.emailLinkOver')],
        })
      },
    )
  showNotice(
    {
      drawing: 'phone',
      title: t('enrollment.emailQuestion'),
      lines: [t('enrollment.emailWho'), t('enrollment.emailNotYou')],
      body: [problem.element],
    },
    button(t('enrollment.emailYes'), 'primary', submit),
  )
}

type Page = {
  /** Ends what the page does for the person who is signed in. */
  leave: () => void
  change: (next: () => void) => void
  enter: () => void
  registered: Ends['done']
  /** A client sent the person here, who connects an agent. */
  consent: (request: string) => void
}

/** The links with a token, which can also be opened in a running page. */
export const createLinks = ({ leave, change, enter, registered, consent }: Page) => {
  let isOpen = false

  /** The link has served its purpose, or never will. */
  const done = (): void => {
    isOpen = false
    clearToken()
    enter()
  }
  const enrolled: Ends['done'] = (org, hasSession) => {
    isOpen = false
    registered(org, hasSession)
  }
  const openers: Record<Token, (token: string) => void> = {
    enroll: (token) => change(() => void enroll(token, { done: enrolled, signIn: done })),
    // The person may not be an approver.
    'verify-email': (token) => change(() => confirmEmail(token)),
    authorize: consent,
  }
  return {
    done,
    /** Opens the link in the address, if it is one of these. */
    open: (...kinds: Token[]): boolean => {
      const kind = kinds.find((one) => tokenInAddress(one) !== undefined)
      isOpen = kind !== undefined
      if (kind === undefined) return false
      leave()
      openers[kind](tokenInAddress(kind)!)
      return true
    },
    isOpen: (): boolean => isOpen,
  }
}
