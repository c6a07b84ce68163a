import type { Table } from '../../contract/table.ts'
import * as requestsByMessage from '../approvals/by-message.ts'
import * as approvalUse from '../approvals/consumption.ts'
import * as keyRevocation from '../approvals/key-revocation.ts'
import * as approvalRequests from '../approvals/listing.ts'
import type { Handlers } from '../call/call.ts'
import * as auditLog from '../custody/audit-log.ts'
import * as messages from '../delivery/messages.ts'
import * as keys from '../keys/keys.ts'
import * as limits from '../limits/values.ts'
import * as authCodes from '../members/auth-codes.ts'
import * as notifications from '../mobile/notification.ts'
import * as geofences from '../policy/geofences.ts'
import * as timeslots from '../policy/timeslots.ts'
import * as testDelivery from '../push/test-delivery.ts'
import { approverDeviceHandlers, approverHandlers } from './approver.ts'
import { authHandlers } from './auth.ts'
import { deviceHandlers } from './device.ts'
import { iotHandlers } from './iot.ts'
import { accountHandlers, mobileHandlers } from './mobile.ts'
import { orgHandlers } from './org.ts'
import { userHandlers } from './user.ts'

// A domain exports each operation under its id. What takes several domains has a file here.

/** One handler an operation of the table; a missing one does not compile. */
export const handlers: Handlers<Table> = {
  ...orgHandlers,
  ...limits,
  ...authCodes,
  ...userHandlers,
  ...geofences,
  ...timeslots,
  ...keys,
  ...keyRevocation,
  ...auditLog,
  ...approvalRequests,
  ...approvalUse,
  ...deviceHandlers,
  ...approverHandlers,
  ...approverDeviceHandlers,
  ...authHandlers,
  ...mobileHandlers,
  ...accountHandlers,
  ...iotHandlers,
  ...requestsByMessage,
  ...notifications,
  ...messages,
  ...testDelivery,
}
