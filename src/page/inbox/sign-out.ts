import { call, Refused, type Session } from '../calls/api.ts'
import { forget, forgetAll } from '../calls/sessions.ts'
import { t } from '../language/text.ts'
import { tellNext } from '../shell/frame.ts'

type Page = {
  /** Whether the page still counts on this session. */
  has: (session: Session) => boolean
  again: () => void
  refresh: () => void
  ended: (session: Session) => void
}

/** The person signs out of one organization. */
export const createSignOut = ({ has, again, refresh, ended }: Page) => {
  const leaving = new Set<Session>()
  return {
    signOut: async (here: Session): Promise<void> => {
      leaving.add(here)
      try {
        await call('closeSession', {}, { org: here.org_id })
      } catch (error) {
        if (!(error instanceof Refused)) {
          // The feed may know by now.
          if (has(here)) {
            tellNext(t('inbox.maybeSignedIn'))
            again()
          }
          return refresh()
        }
      }
      ended(here)
    },
    /**
     * This session is over. Whoever signed out leaves nothing behind, nor, with the last session, about organizations whose
     * sessions had expired before.
     */
    settle: (session: Session, left: readonly Session[]): void => {
      if (!leaving.delete(session)) return
      if (left.length > 0) forget(session)
      else forgetAll()
    },
  }
}
