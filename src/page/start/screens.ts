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
import type { PendingRequest } from '../calls/feed.ts'
import { showInbox } from '../inbox/inbox.ts'
import { showGone } from '../request/result.ts'
import type { Queue } from '../request/queue.ts'
import { showRequest } from '../request/request.ts'
import { requestInAddress, screenInAddress } from '../shell/address.ts'
import { nameOrganization, type View } from '../shell/frame.ts'
import { showNotifications } from '../notifications/settings.ts'

type Ways = Parameters<typeof showInbox>[2] & {
  /** The person removed the device that they use. */
  removed: () => void
  /** Reads the sessions and requests again. */
  refresh: () => void
  queue: Queue
}

const screens: Record<string, (here: Session, ways: Ways, id: string) => View> = {
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

/** Shows the screen of the address: a request, one about this organization, or the requests. */
export const screenAt = (here: Session, requests: readonly PendingRequest[], ways: Ways): View => {
  const wanted = requestInAddress()
  const request = wanted !== undefined && requests.find(({ request_id }) => request_id === wanted)
  nameOrganization(request ? request.session : here)
  if (request) return showRequest(request, requests, ways.queue)
  if (wanted !== undefined) return showGone(wanted, ways)
  const [name, id] = screenInAddress()
  return Object.hasOwn(screens, name) ? screens[name]!(here, ways, id) : showInbox(here, requests, ways)
}
