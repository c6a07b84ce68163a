import { call, type Closed, onlyOnce, Refused } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { clearToken, type Token, tokenInAddress } from '../shell/address.ts'
import { button, details, div, h } from '../shell/element.ts'
import { nameOrganization, problemLine, sentenceFor, tellNext } from '../shell/frame.ts'
import { notice, showNotice, words } from '../shell/notice.ts'
import { exactText } from '../shell/text.ts'
import { enroll } from './enrollment.ts'
import { keysHere } from '../calls/webauthn.ts'
import { isComputer } from '../shell/browser.ts'
import { languageChoice } from '../shell/choice.ts'
import { showClosed, signIn, type Ways } from './entry.ts'
import { createCode, showWayOut } from './hand-over.ts'

/** On a computer, the link of the page goes on to a phone: at once if only a phone or a security key can sign. */
const handOver = async (place: HTMLElement): Promise<void> => {
  const code = createCode()
  if ((await keysHere()).onDevice) place.append(details(t('enrollment.otherDevice'), div('content', code)))
  else place.append(code)
}

const showForm = (ways: Ways): void => {
  const problem = problemLine()
  nameOrganization()
  const place = h('div')
  // What to do about a lost device opens on demand, on the screen where somebody without a device arrives.
  const lost = [t('devices.lostOther'), t('devices.lostLast'), t('devices.lostWait')]
  showNotice(
    { ...words('enrollment.signIn', 'enrollment.signInWhy', 'phone'), body: [problem.element] },
    button(t('enrollment.signIn'), 'primary', () => signIn(ways, problem)),
  ).append(
    details(t('devices.lostQuestion'), div('content', ...lost.map((line) => h('p', {}, line)))),
    h('p', 'aside', t('enrollment.newHere')),
    place,
    div(
      'foot',
      languageChoice(() => showForm(ways)),
    ),
  )
  if (isComputer && location.protocol === 'https:') void handOver(place)
}

/** For a device that is registered and whose session has ended, or was ended. */
const showSignIn = (change: Ways['change'], done: () => void, closed?: Closed): void => {
  const back = (): void => change(() => showForm(ways))
  const ways = { change, done, back, isIn: false }
  if (closed && showClosed(closed, ways)) return
  back()
  void showWayOut(() => showForm(ways))
}

/** The tap uses up the token, not the opening of the link: mail scanners open links too. */
const confirmEmail = (token: string): void => {
  if (token === 'damaged')
    return void showNotice(words('enrollment.linkDamaged', 'enrollment.linkDamagedWhy', 'clock'))
  const problem = problemLine()
  const once = onlyOnce()
  const failed = (error: unknown): void => {
    if (!(error instanceof Refused)) return problem.say(t('enrollment.emailUnreachable'))
    if (error.status !== 410) return problem.say(sentenceFor(error))
    showNotice(words('enrollment.linkOver', 'enrollment.emailLinkOver', 'clock'))
  }
  const confirm = async (): Promise<void> => {
    await call('verifyEmail', { token }, { once })
    clearToken()
    showNotice({
      ...words('enrollment.emailConfirmed', 'enrollment.emailConfirmedWhy', 'phone'),
      tone: 'good',
    })
  }
  const read = async (): Promise<void> => {
    const { email } = await call('readEmailLink', { token }, {})
    showNotice(
      {
        ...notice(
          'phone',
          t('enrollment.emailQuestion'),
          h('strong', {}, exactText(email)),
          t('enrollment.emailWho'),
          t('enrollment.emailNotYou'),
        ),
        body: [problem.element],
      },
      button(t('enrollment.emailYes'), 'primary', () => problem.attempt(confirm, failed)),
    )
  }
  const look = (): Promise<void> => problem.attempt(read, failed)
  showNotice(
    { ...notice('phone', t('common.moment')), body: [problem.element] },
    button(t('common.tryAgain'), 'plain', look),
  )
  void look()
}

/** `fresh` after a registration, in the organization `org`. `opened`: the service has just opened a session. */
export type Entry = { fresh?: boolean; org?: number; opened?: boolean }

type Page = {
  /** Ends what the page does for the person who is signed in. */
  leave: () => void
  change: (next: () => void) => void
  enter: (entry: Entry) => void
  /** A client sent the person here, who connects an agent. */
  consent: (request: string) => void
}

/** The ways to a session: signing in, and the links with a token, which can also be opened in a running page. */
export const createEntrance = ({ leave, change, enter, consent }: Page) => {
  let isOpen = false

  /** `fresh` after a registration whose answer was lost, and with it the session. */
  const signIn = (fresh = false, closed?: Closed): void => {
    leave()
    if (fresh) tellNext(t('enrollment.registeredSignIn'))
    showSignIn(change, () => enter({ fresh, opened: true }), closed)
  }
  const blocked = (fresh: boolean): void =>
    void showNotice(
      notice(
        'bad',
        t('enrollment.cookiesBlocked'),
        t('enrollment.cookiesBlockedWhy', { host: location.host }),
      ),
      button(t('common.tryAgain'), 'primary', () => signIn(fresh)),
    )
  /** The link has served its purpose, or never will. */
  const done = (): void => {
    isOpen = false
    clearToken()
    enter({})
  }
  const enrolled = (org: number, opened: boolean): void => {
    isOpen = false
    enter({ fresh: true, org, opened })
  }
  const openers: Record<Token, (token: string) => void> = {
    enroll: (token) => change(() => void enroll(token, { done: enrolled, signIn: done })),
    // The person may not be an approver.
    'verify-email': (token) => change(() => confirmEmail(token)),
    authorize: consent,
  }
  return {
    signIn,
    /** The browser has no session: if one has just been opened, it blocks cookies. */
    turnAway: ({ fresh = false, opened = false }: Entry, [closed]: readonly Closed[] = []): void =>
      opened ? change(() => blocked(fresh)) : signIn(fresh, closed),
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
