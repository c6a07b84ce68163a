import type { Session } from '../calls/api.ts'
import { button, picture, h } from '../shell/element.ts'
import { show } from '../shell/frame.ts'
import { locate, locationState } from '../calls/location.ts'
import { notificationOffer, turnOnNotifications } from './push.ts'

type Offer = {
  drawing: 'bell' | 'place'
  title: string
  why: string
  yes: string
  /** The message if the phone did not allow it. */
  take: () => Promise<string | undefined>
}

const offer = ({ drawing, title, why, yes, take }: Offer): Promise<void> =>
  new Promise((resolve) => {
    const outcome = h('p', { role: 'status' })
    const actions = h(
      'div',
      { class: 'actions' },
      button(yes, 'primary', async () => {
        const sentence = await take()
        if (sentence === undefined) return resolve()
        outcome.textContent = sentence
        const goOn = button('Continue', 'primary', () => resolve())
        actions.replaceChildren(goOn)
        goOn.focus()
      }),
      button('Not now', 'quiet', () => resolve()),
    )
    show(
      title,
      h('div', { class: 'notice' }, picture(drawing, 'good'), h('h1', {}, title), h('p', {}, why), outcome),
      actions,
    )
  })

const noPlace = 'This phone didn’t share its location. You can allow it later in your browser’s settings.'

const offerInstallation = (): Promise<void> =>
  new Promise((resolve) => {
    show(
      'Add it to the home screen',
      h(
        'div',
        { class: 'notice' },
        picture('bell', 'good'),
        h('h1', {}, 'Add it to the home screen'),
        h(
          'p',
          {},
          'On iPhone, only apps on the Home Screen can notify you. Tap Share, then Add to Home Screen.',
        ),
        h('p', {}, 'Open it from there, sign in, and turn on notifications.'),
      ),
      h(
        'div',
        { class: 'actions' },
        button('Continue', 'primary', () => resolve()),
      ),
    )
  })

export const offerNotifications = async (session: Session, sessions: readonly Session[]): Promise<void> => {
  const possible = notificationOffer(session)
  if (possible === 'install first') await offerInstallation()
  if (possible === 'possible')
    await offer({
      drawing: 'bell',
      title: 'Turn on notifications?',
      why: 'Requests expire within minutes. A notification tells you in time, and never shows the details.',
      yes: 'Turn on notifications',
      take: () => turnOnNotifications(session, sessions),
    })
}

/** After a registration: asks for permissions of the phone, one at a time, each with its reason. */
export const makeOffers = async (session: Session, sessions: readonly Session[]): Promise<void> => {
  await offerNotifications(session, sessions)
  if (session.wants_location && (await locationState()) !== 'granted')
    await offer({
      drawing: 'place',
      title: 'Allow location?',
      why: `${session.organization} has rules about where you can approve. Your location is sent only with an approval.`,
      yes: 'Allow location',
      take: async () => ((await locate()) ? undefined : noPlace),
    })
}
