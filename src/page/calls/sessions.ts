import type { Session } from './api.ts'
import { keep, readKept } from './kept.ts'

const kept = 'svc-organization'

/** The organization that was chosen last, or the first one. */
export const chosenAmong = (sessions: readonly Session[]): Session | undefined => {
  const id = readKept(kept)
  return sessions.find(({ org_id }) => String(org_id) === id) ?? sessions[0]
}

export const choose = ({ org_id }: Session): void => keep(kept, String(org_id))

/** An organization in which this phone is registered, and its key there. */
export type Known = Pick<Session, 'org_id' | 'organization' | 'credential_id'>

const keptAll = 'svc-organizations'

/** Another version may have kept something else. */
const isKnown = (one: Partial<Known> | null): one is Known =>
  typeof one?.org_id === 'number' && typeof one.organization === 'string'

const known = (): Known[] => {
  try {
    return (JSON.parse(readKept(keptAll) ?? '[]') as (Partial<Known> | null)[]).filter(isKnown)
  } catch {
    return []
  }
}

/** The others of `all`. */
const except = (all: readonly Known[], some: readonly Pick<Known, 'org_id'>[]): Known[] =>
  all.filter((one) => !some.some(({ org_id }) => org_id === one.org_id))

/** Once such a session has expired, the page can say so: its requests are in no list. */
export const remember = (sessions: readonly Session[]): void =>
  keep(
    keptAll,
    JSON.stringify([
      ...except(known(), sessions),
      ...sessions.map(({ org_id, organization, credential_id }) => ({ org_id, organization, credential_id })),
    ]),
  )

/** The person signed out, or removed this device. */
export const forget = (one: Pick<Known, 'org_id'>): void =>
  keep(keptAll, JSON.stringify(except(known(), [one])))

/** The person signed out of the last one. */
export const forgetAll = (): void => {
  keep(kept)
  keep(keptAll)
}

/** The service said that this key is over. */
export const forgetKey = (credential: string): void =>
  keep(keptAll, JSON.stringify(known().filter(({ credential_id }) => credential_id !== credential)))

/** The organizations whose sessions have expired. */
export const signedOutOf = (sessions: readonly Session[]): Known[] => except(known(), sessions)
