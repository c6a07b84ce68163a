import type { Table } from '../../contract/table.ts'
import * as requestsByMessage from '../approvals/by-message.ts'
import * as approvalUse from '../approvals/consumption.ts'
import * as keyRevocation from '../approvals/key-revocation.ts'
import * as approvalRequests from '../approvals/listing.ts'
import * as deviceMoves from '../approver/device-moves.ts'
import type { Handlers } from '../call/call.ts'
import * as auditLog from '../custody/audit-log.ts'
import * as messages from '../delivery/messages.ts'
import * as keys from '../keys/keys.ts'
import * as limits from '../limits/values.ts'
import * as machineLogin from '../machines/login.ts'
import * as machines from '../machines/machine.ts'
import * as authCodes from '../members/auth-codes.ts'
import * as confirmation from '../mobile/confirmation.ts'
import * as emailLinks from '../mobile/email-link.ts'
import * as enrollment from '../mobile/enrollment.ts'
import * as joining from '../mobile/joining.ts'
import * as notifications from '../mobile/notification.ts'
import * as profile from '../mobile/profile.ts'
import * as registration from '../mobile/registration.ts'
import * as support from '../mobile/support.ts'
import * as mobileTokens from '../mobile/tokens.ts'
import * as geofences from '../policy/geofences.ts'
import * as timeslots from '../policy/timeslots.ts'
import * as testDelivery from '../push/test-delivery.ts'
import * as prompts from '../verifications/prompt.ts'
import * as results from '../verifications/results.ts'
import * as tokens from '../verifications/token.ts'
import { approverHandlers } from './approver.ts'
import { deviceHandlers } from './device.ts'
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
  ...deviceMoves,
  ...prompts,
  ...tokens,
  ...results,
  ...registration,
  ...confirmation,
  ...mobileTokens,
  ...support,
  ...enrollment,
  ...joining,
  ...profile,
  ...emailLinks,
  ...machines,
  ...machineLogin,
  ...requestsByMessage,
  ...notifications,
  ...messages,
  ...testDelivery,
}
