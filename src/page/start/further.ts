import { showAgents } from '../agents/agents.ts'
import { showAway } from '../away/away.ts'
import type { Session } from '../calls/api.ts'
import { showAddDevice } from '../devices/add-device.ts'
import { showDevices } from '../devices/devices.ts'
import { showGroups } from '../groups/groups.ts'
import { showDecision } from '../history/decision.ts'
import { showActivity, showHistory } from '../history/history.ts'
import { showMember } from '../members/member.ts'
import { showMembers } from '../members/members.ts'
import { showMemberMutes, showMutes } from '../mutes/mutes.ts'
import { showNotifications } from '../notifications/settings.ts'
import type { View } from '../shell/frame.ts'

export type Ways = Parameters<typeof showNotifications>[1] & {
  /** The person removed the device that they use. */
  removed: () => void
}

/** What nobody needs to decide a request, by the address of each screen. The build makes it a file of its own. */
export const screens: Record<string, (here: Session, ways: Ways, id: string) => View> = {
  members: showMembers,
  'member=': (here, _, id) => showMember(here, id),
  devices: (here, { removed }) => showDevices(here, removed),
  'add-device': (here, { removed }) => showAddDevice(here, removed),
  history: (here, { sessions }) => showHistory(here, sessions),
  'decision=': (here, _, id) => showDecision(here, id, 'history'),
  activity: showActivity,
  'activity=': (here, _, id) => showDecision(here, id, 'activity'),
  'member-mutes': showMemberMutes,
  agents: showAgents,
  notifications: showNotifications,
  mutes: showMutes,
  away: showAway,
  groups: showGroups,
}
