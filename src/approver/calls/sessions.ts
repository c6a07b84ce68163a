import type { Session } from './api.ts'

const kept = 'svc-organization'

/** The organization that was chosen last; storage can be blocked. */
export const chosenAmong = (sessions: readonly Session[]): Session | undefined => {
  let id: string | null = null
  try {
    id = localStorage.getItem(kept)
  } catch {
    // The first one, then.
  }
  return sessions.find(({ org_id }) => String(org_id) === id) ?? sessions[0]
}

export const choose = ({ org_id }: Session): void => {
  try {
    localStorage.setItem(kept, String(org_id))
  } catch {
    // It is chosen until the page is closed.
  }
}
