import type { Table } from '../../contract/table.ts'
import type { Handlers } from '../call/call.ts'
import { approvalHandlers } from './approval.ts'
import { approverDeviceHandlers, approverHandlers } from './approver.ts'
import { auditHandlers } from './audit.ts'
import { authCodeHandlers } from './auth-code.ts'
import { authHandlers } from './auth.ts'
import { deviceHandlers } from './device.ts'
import { geofenceHandlers } from './geofence.ts'
import { iotHandlers } from './iot.ts'
import { keyHandlers } from './key.ts'
import { limitHandlers } from './limits.ts'
import { accountHandlers, mobileHandlers } from './mobile.ts'
import { notifyHandlers } from './notify.ts'
import { orgHandlers } from './org.ts'
import { outboxHandlers } from './outbox.ts'
import { timeslotHandlers } from './timeslot.ts'
import { userHandlers } from './user.ts'

/** One handler an operation of the table; a missing one does not compile. */
export const handlers: Handlers<Table> = {
  ...orgHandlers,
  ...limitHandlers,
  ...authCodeHandlers,
  ...userHandlers,
  ...geofenceHandlers,
  ...timeslotHandlers,
  ...keyHandlers,
  ...auditHandlers,
  ...approvalHandlers,
  ...deviceHandlers,
  ...approverHandlers,
  ...approverDeviceHandlers,
  ...authHandlers,
  ...mobileHandlers,
  ...accountHandlers,
  ...iotHandlers,
  ...notifyHandlers,
  ...outboxHandlers,
}
