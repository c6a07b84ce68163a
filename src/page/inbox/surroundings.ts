import { actFor, call, type Devices, type Members, type Session } from '../calls/api.ts'
import { countWaiting, noDevices } from '../devices/devices.ts'
import { isAdmin, nobody } from '../members/members.ts'

/** Undefined if the service does not answer: then what was known still counts. */
const unlessUnknown = <T>(answer: Promise<T>): Promise<T | undefined> => answer.catch(() => undefined)

/** What an inbox shows besides requests: the members and devices of one organization that wait for this person. */
export const createSurroundings = (changed: () => void) => {
  let session: Session | undefined
  let members: Members = nobody
  let devices: Devices = noDevices

  return {
    /** From now on, those of this session. */
    follow: (next: Session | undefined): void => {
      actFor(next?.org_id)
      session = next
      members = nobody
      devices = noDevices
    },
    counts: () => ({
      newDevices: countWaiting(devices),
      ...(session && isAdmin(session) && { waiting: members.total }),
    }),
    /** Runs with each update of the requests. */
    look: async (): Promise<void> => {
      const here = session
      if (!here) return
      const [people, own] = await Promise.all([
        isAdmin(here) ? unlessUnknown(call('listMembers', {})) : undefined,
        unlessUnknown(call('listOwnDevices', {})),
      ])
      if (session !== here) return
      const before = [members.total, countWaiting(devices)]
      members = people ?? members
      devices = own ?? devices
      if (members.total !== before[0] || countWaiting(devices) !== before[1]) changed()
    },
  }
}
