import type { Session } from '../calls/api.ts'
import { button, div, h, picture } from '../shell/element.ts'
import { show } from '../shell/frame.ts'
import { notice, type Notice, showNotice } from '../shell/notice.ts'
import { locate, locationState } from '../calls/location.ts'
import { notificationOffer, turnOnNotifications } from './push.ts'
import { t } from '../language/text.ts'

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
    const actions = div(
      'actions',
      button(yes, 'primary', async () => {
        const sentence = await take()
        if (sentence === undefined) return resolve()
        outcome.textContent = sentence
        const goOn = button(t('common.continue'), 'primary', () => resolve())
        actions.replaceChildren(goOn)
        goOn.focus()
      }),
      button(t('common.notNow'), 'quiet', () => resolve()),
    )
    show(title, div('notice', picture(drawing), h('h1', {}, title), h('p', {}, why), outcome), actions)
  })

/** One message, until the person goes on. */
const read = (message: Notice): Promise<void> =>
  new Promise((resolve) => {
    showNotice(
      message,
      button(t('common.continue'), 'primary', () => resolve()),
    )
  })

export const offerNotifications = async (session: Session, sessions: readonly Session[]): Promise<void> => {
  const possible = notificationOffer(session)
  if (possible === 'install first')
    await read(
      notice(
        'bell',
        t('notifications.homeScreen'),
        t('notifications.homeScreenWhy'),
        t('notifications.homeScreenNext'),
      ),
    )
  if (possible === 'possible')
    await offer({
      drawing: 'bell',
      title: t('notifications.question'),
      why: t('notifications.why'),
      yes: t('notifications.turnOn'),
      take: () => turnOnNotifications(session, sessions),
    })
}

/** After a registration: what happens from now on, then permissions of the phone, one at a time, each with its reason. */
export const welcome = async (session: Session, sessions: readonly Session[]): Promise<void> => {
  const { organization } = session
  const steps = [t('enrollment.nextRequest', { organization }), t('enrollment.nextDecide')]
  await read({
    ...notice('good', t('enrollment.registered')),
    body: [
      h('h2', {}, t('enrollment.nextTitle')),
      h('ol', 'terms', ...steps.map((step) => h('li', {}, step))),
    ],
  })
  await offerNotifications(session, sessions)
  if (session.wants_location && (await locationState()) !== 'granted')
    await offer({
      drawing: 'place',
      title: t('notifications.locationQuestion'),
      why: t('notifications.locationWhy', { organization }),
      yes: t('notifications.locationAllow'),
      take: async () => ((await locate()) ? undefined : t('notifications.locationDenied')),
    })
}
