import { call, type Session } from '../calls/api.ts'
import { forget, signedOutOf, type Known } from '../calls/sessions.ts'
import { nodes, t } from '../language/text.ts'
import { button, div, h } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { enter, signIn, type Ways } from './entry.ts'

type Suggestion = { line: Node | string; problem?: Node; action: Node; dismissed: () => void }

/** A card with one thing to do, or to dismiss. Then the focus moves on to what follows. */
export const suggestion = ({ line, problem, action, dismissed }: Suggestion): HTMLElement => {
  const dismiss = (): void => {
    dismissed()
    const next = card.nextElementSibling ?? document.querySelector('h1')
    card.remove()
    const target = next?.querySelector('a, button, select') ?? next
    ;(target as HTMLElement | null)?.focus({ preventScroll: true })
  }
  const card = div(
    'paper',
    h('p', {}, line),
    problem,
    div('links', action, button(t('inbox.dismiss'), 'quiet', dismiss)),
  )
  return card
}

const cardFor = (one: Known, ways: Ways): HTMLElement => {
  const problem = problemLine()
  const { organization, credential_id: credential } = one
  const card = suggestion({
    line: nodes('inbox.expired', { organization: exactText(organization) }),
    problem: problem.element,
    action: button(t('enrollment.signIn'), 'quiet', () => signIn(ways, problem, { credential })),
    dismissed: () => forget(one),
  })
  card.setAttribute('role', 'group')
  card.setAttribute('aria-label', organization)
  return card
}

/** One for each organization whose session has expired on this phone: its requests are in no list until its device signs in. */
export const signedOutCards = (sessions: readonly Session[], ways: Ways): HTMLElement[] =>
  signedOutOf(sessions).map((one) => cardFor(one, ways))

/** Adds the session of another organization. After a sign-out, the page knows none: the person picks the passkey. */
export const anotherOrganization = (sessions: readonly Session[], ways: Ways): HTMLElement => {
  const problem = problemLine()
  const add = (): Promise<void> =>
    enter(ways, problem, async (proof) => {
      const present = sessions.find(({ credential_id }) => credential_id === proof.response.id)
      if (present) return problem.say(t('inbox.alreadyIn', { organization: present.organization }))
      await call('openSession', proof)
      ways.done()
    })
  return div('actions', problem.element, button(t('inbox.another'), 'quiet', add))
}
