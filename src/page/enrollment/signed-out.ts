import type { Session } from '../calls/api.ts'
import { forget, signedOutOf, type Known } from '../calls/sessions.ts'
import { signIn, type Ways } from './entry.ts'
import { nodes, t } from '../language/text.ts'
import { button } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { suggestion } from './suggestion.ts'

const cardFor = (one: Known, ways: Ways): HTMLElement => {
  const problem = problemLine()
  const { organization, credential_id } = one
  const card = suggestion({
    line: nodes('inbox.expired', { organization: exactText(organization) }),
    problem: problem.element,
    action: button(t('enrollment.signIn'), 'quiet', () => signIn(ways, problem, credential_id)),
    dismissed: () => forget(one),
  })
  card.setAttribute('role', 'group')
  card.setAttribute('aria-label', organization)
  return card
}

/** One for each organization whose session has expired on this phone: its requests are in no list until its device signs in. */
export const signedOutCards = (sessions: readonly Session[], ways: Ways): HTMLElement[] =>
  signedOutOf(sessions).map((one) => cardFor(one, ways))
