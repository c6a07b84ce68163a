import { showAgents } from './agents/agents.ts'
import type { Session } from './calls/api.ts'
import { showAddDevice } from './devices/add-device.ts'
import { showDevices } from './devices/devices.ts'
import { showDecision } from './history/decision.ts'
import { showActivity, showHistory } from './history/history.ts'
import { showMember } from './members/member.ts'
import { showMembers } from './members/members.ts'
import { showMemberMutes, showMutes } from './mutes/mutes.ts'
import { inAddress } from './shell/address.ts'
import { showNotifications } from './notifications/settings.ts'
import type { View } from './shell/view.ts'

type Ways = {
  sessions: readonly Session[]
  /** The person removed the device that they use. */
  removed: () => void
  /** Shows the same screen again. */
  again: () => void
  /** Offers notifications. */
  notify: () => Promise<void>
}

const screens: Record<string, (here: Session, ways: Ways) => View | void> = {
  '#members': showMembers,
  '#devices': (here, { removed }) => showDevices(here, removed),
  '#add-device': (here, { removed }) => showAddDevice(here, removed),
  '#history': (here, { sessions }) => showHistory(here, sessions),
  '#activity': showActivity,
  '#member-mutes': showMemberMutes,
  '#agents': showAgents,
  '#notifications': showNotifications,
  '#mutes': showMutes,
}

/** Shows the screen of the address; undefined if it is that of a request or of the requests. */
export const screenAt = (here: Session, ways: Ways): View | undefined => {
  const [own, other, member] = [inAddress('decision'), inAddress('activity'), inAddress('member')]
  if (own !== undefined) return showDecision(here, own, 'history')
  if (other !== undefined) return showDecision(here, other, 'activity')
  if (member !== undefined) return showMember(here, member)
  const show = screens[location.hash]
  return show && (show(here, ways) ?? {})
}
