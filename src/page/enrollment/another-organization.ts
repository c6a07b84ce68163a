import { call, type Session } from '../calls/api.ts'
import { createEntry, type Ways } from './entry.ts'
import { t } from '../language/text.ts'
import { button, h } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'

/** Adds the session of another organization. After a sign-out, the page knows none: the person picks the passkey. */
export const anotherOrganization = (sessions: readonly Session[], ways: Ways): HTMLElement => {
  const problem = problemLine()
  const enter = createEntry(ways)
  const signIn = (): Promise<void> =>
    enter(problem, async (proof) => {
      const present = sessions.find(({ credential_id }) => credential_id === proof.response.id)
      if (present) return problem.say(t('inbox.alreadyIn', { organization: present.organization }))
      await call('openSession', proof)
      ways.done()
    })
  return h('div', {}, problem.element, button(t('inbox.another'), 'quiet', signIn))
}
