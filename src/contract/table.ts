import { account } from './account.ts'
import { approval } from './approval.ts'
import { pageAgents } from './page-agents.ts'
import { pageConfirmation } from './page-confirmation.ts'
import { pageEmail } from './page-email.ts'
import { pageDevices } from './page-devices.ts'
import { pageHistory } from './page-history.ts'
import { pageNotifications } from './page-notifications.ts'
import { pageRequests } from './page-requests.ts'
import { page } from './page.ts'
import { audit } from './audit.ts'
import { away } from './away.ts'
import { authCode } from './auth-code.ts'
import { auth } from './auth.ts'
import { batch } from './batch.ts'
import { device } from './device.ts'
import { events } from './event.ts'
import { geofence } from './geofence.ts'
import { group } from './group.ts'
import { iot } from './iot.ts'
import { key } from './key.ts'
import { limits } from './limits.ts'
import { mobile } from './mobile.ts'
import { grant } from './grant.ts'
import { mute } from './mute.ts'
import { node } from './node.ts'
import { notify } from './notify.ts'
import { org } from './org.ts'
import { outbox } from './outbox.ts'
import { pendingUser } from './pending-user.ts'
import { review } from './review.ts'
import { rule } from './rule.ts'
import { timeslot } from './timeslot.ts'
import { user } from './user.ts'
import { webhook } from './webhook.ts'

/** The whole table, for the service, OpenAPI and the docs. Commands load only their own group. */
export const table = {
  ...org,
  ...authCode,
  ...limits,
  ...user,
  ...away,
  ...pendingUser,
  ...geofence,
  ...timeslot,
  ...group,
  ...rule,
  ...key,
  ...audit,
  ...events,
  ...webhook,
  ...approval,
  ...batch,
  ...review,
  ...grant,
  ...mute,
  ...device,
  ...page,
  ...pageConfirmation,
  ...pageEmail,
  ...pageDevices,
  ...pageRequests,
  ...pageHistory,
  ...pageAgents,
  ...pageNotifications,
  ...auth,
  ...mobile,
  ...account,
  ...iot,
  ...notify,
  ...outbox,
  ...node,
}

export type Table = typeof table
export type OperationId = keyof Table
