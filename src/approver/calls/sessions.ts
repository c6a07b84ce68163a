import type { Session } from './api.ts'
import { keep, readKept } from './kept.ts'

const kept = 'svc-organization'

/** The organization that was chosen last, or the first one. */
export const chosenAmong = (sessions: readonly Session[]): Session | undefined => {
  const id = readKept(kept)
  return sessions.find(({ org_id }) => String(org_id) === id) ?? sessions[0]
}

export const choose = ({ org_id }: Session): void => keep(kept, String(org_id))
