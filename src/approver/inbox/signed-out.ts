import { call, type Session } from '../calls/api.ts'
import { proveOwner } from '../calls/proof.ts'
import { forget, signedOutOf, type Known } from '../calls/sessions.ts'
import { nodes, t } from '../language/text.ts'
import { button } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { suggestion } from './suggestion.ts'

const cardFor = (one: Known, entered: () => void): HTMLElement => {
  const problem = problemLine()
  const { organization } = one
  const signIn = (): Promise<void> =>
    problem.attempt(async () => {
      const { proof } = await proveOwner(one.credential_id)
      await call('openSession', proof)
      entered()
    })
  const card = suggestion({
    line: nodes('inbox.expired', { organization: exactText(organization) }),
    problem: problem.element,
    action: button(t('enrollment.signIn'), 'quiet', signIn),
    dismissed: () => forget(one),
  })
  card.setAttribute('role', 'group')
  card.setAttribute('aria-label', organization)
  return card
}

/** One for each organization whose session has expired on this phone: its requests are in no list until its device signs in. */
export const signedOutCards = (sessions: readonly Session[], entered: () => void): HTMLElement[] =>
  signedOutOf(sessions).map((one) => cardFor(one, entered))
