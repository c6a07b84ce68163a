import { showAgents } from '../agents/agents.ts'
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
import { inAddress, requestInAddress } from '../shell/address.ts'
import { nameOrganization, type View } from '../shell/frame.ts'
import { showNotifications } from '../notifications/settings.ts'

type Ways = Parameters<typeof showInbox>[2] & {
  /** The person removed the device that they use. */
  removed: () => void
  /** Reads the sessions and requests again. */
  refresh: () => void
  queue: Queue
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
  '#groups': showGroups,
}

/** Shows the screen of the address: a request, one about this organization, or the requests. */
export const screenAt = (here: Session, requests: readonly PendingRequest[], ways: Ways): View => {
  const wanted = requestInAddress()
  const request = wanted !== undefined && requests.find(({ request_id }) => request_id === wanted)
  nameOrganization(request ? request.session : here)
  if (request) return showRequest(request, requests, ways.queue)
  if (wanted !== undefined) return showGone(wanted, ways)
  const [own, other, member] = [inAddress('decision'), inAddress('activity'), inAddress('member')]
  if (own !== undefined) return showDecision(here, own, 'history')
  if (other !== undefined) return showDecision(here, other, 'activity')
  if (member !== undefined) return showMember(here, member)
  const show = screens[location.hash]
  return show ? (show(here, ways) ?? {}) : showInbox(here, requests, ways)
}
