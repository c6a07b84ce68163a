import type { Table } from '../../contract/table.ts'
import type { Handlers } from '../call/call.ts'
import { approvalHandlers } from './approval.ts'
import { approverHandlers } from './approver.ts'
import { approverDeviceHandlers } from './approver-devices.ts'
import { approverMemberHandlers } from './approver-members.ts'
import { auditHandlers } from './audit.ts'
import { authHandlers } from './auth.ts'
import { authCodeHandlers } from './auth-code.ts'
import { credentialHandlers } from './credentials.ts'
import { deviceHandlers } from './device.ts'
import { geofenceHandlers } from './geofence.ts'
import { iotHandlers } from './iot.ts'
import { limitHandlers } from './limits.ts'
import { keyHandlers } from './key.ts'
import { lookupHandlers } from './lookup.ts'
import { membershipHandlers } from './membership.ts'
import { accountHandlers, mobileHandlers } from './mobile.ts'
import { notifyHandlers } from './notify.ts'
import { onboardingHandlers } from './onboarding.ts'
import { orgHandlers } from './org.ts'
import { outboxHandlers } from './outbox.ts'
import { timeslotHandlers } from './timeslot.ts'
import { userHandlers } from './user.ts'
import { userRuleHandlers } from './user-rules.ts'

/** One handler an operation of the table; a missing one does not compile. */
export const handlers: Handlers<Table> = {
  ...orgHandlers,
  ...limitHandlers,
  ...onboardingHandlers,
  ...credentialHandlers,
  ...authCodeHandlers,
  ...userHandlers,
  ...membershipHandlers,
  ...lookupHandlers,
  ...userRuleHandlers,
  ...geofenceHandlers,
  ...timeslotHandlers,
  ...keyHandlers,
  ...auditHandlers,
  ...approvalHandlers,
  ...deviceHandlers,
  ...approverHandlers,
  ...approverMemberHandlers,
  ...approverDeviceHandlers,
  ...authHandlers,
  ...mobileHandlers,
  ...accountHandlers,
  ...iotHandlers,
  ...notifyHandlers,
  ...outboxHandlers,
}
