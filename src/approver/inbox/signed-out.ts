import { call, type Session } from '../calls/api.ts'
import { forget, signedOutOf, type Known } from '../calls/sessions.ts'
import { assert } from '../calls/webauthn.ts'
import { nodes, t } from '../language/text.ts'
import { button, h } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'

const card = (one: Known, entered: () => void): HTMLElement => {
  const problem = problemLine()
  const { organization } = one
  const signIn = (): Promise<void> =>
    problem.attempt(async () => {
      const { rp_id, challenge } = await call('beginSession', {})
      const response = await assert(rp_id, challenge, one.credential_id)
      await call('openSession', { challenge, response })
      entered()
    })
  const dismiss = (): void => {
    forget(one)
    const below = element.parentElement
    element.remove()
    below?.querySelector<HTMLElement>('select, a')?.focus({ preventScroll: true })
  }
  const element = h(
    'div',
    { class: 'paper', role: 'group', 'aria-label': organization },
    h('p', {}, nodes('inbox.expired', { organization: exactText(organization) })),
    problem.element,
    h(
      'div',
      { class: 'links' },
      button(t('enrollment.signIn'), 'quiet', signIn),
      button(t('inbox.dismiss'), 'quiet', dismiss),
    ),
  )
  return element
}

/** One for each organization whose session has expired on this phone: its requests are in no list until its device signs in. */
export const signedOutCards = (sessions: readonly Session[], entered: () => void): HTMLElement[] =>
  signedOutOf(sessions).map((one) => card(one, entered))
