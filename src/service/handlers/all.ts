import type { Table } from '../../contract/table.ts'
import * as requestsByMessage from '../approvals/by-message.ts'
import * as approvalUse from '../approvals/consumption.ts'
import * as keyRotation from '../approvals/key-rotation.ts'
import * as approvalRequests from '../approvals/listing.ts'
import * as agents from '../page/agents.ts'
import * as consent from '../page/consent.ts'
import * as decisions from '../page/decisions.ts'
import * as deviceMoves from '../page/device-moves.ts'
import * as inbox from '../page/inbox.ts'
import * as approverMembers from '../page/member-list.ts'
import * as denials from '../page/denials.ts'
import * as mutes from '../page/mutes.ts'
import { getOwnRequest } from '../page/outcome.ts'
import * as ownDevices from '../page/own-devices.ts'
import { beginEnrollment } from '../page/registration.ts'
import * as sessions from '../page/sign-in.ts'
import type { Handlers } from '../call/call.ts'
import * as auditLog from '../custody/audit-log.ts'
import * as messages from '../delivery/messages.ts'
import * as credentials from '../keys/credentials.ts'
import { listEvents } from '../events/stream.ts'
import * as webhooks from '../events/webhooks.ts'
import * as keys from '../keys/keys.ts'
import * as limits from '../limits/values.ts'
import * as machineLogin from '../machines/login.ts'
import * as machines from '../machines/machine.ts'
import * as registrations from '../machines/registrations.ts'
import * as authCodes from '../members/auth-codes.ts'
import * as logos from '../members/logo.ts'
import * as organizations from '../members/organization.ts'
import * as users from '../members/users.ts'
import * as confirmation from '../mobile/confirmation.ts'
import * as emailLinks from '../mobile/email-link.ts'
import * as enrollment from '../mobile/enrollment.ts'
import * as joining from '../mobile/joining.ts'
import * as lookup from '../mobile/lookup.ts'
import * as notifications from '../mobile/notification.ts'
import * as profile from '../mobile/profile.ts'
import * as registration from '../mobile/registration.ts'
import * as support from '../mobile/support.ts'
import * as mobileTokens from '../mobile/tokens.ts'
import * as geofences from '../policy/geofences.ts'
import * as timeslots from '../policy/timeslots.ts'
import * as userFactors from '../policy/user-factors.ts'
import * as subscriptions from '../page/push/subscription.ts'
import * as testPushes from '../page/push/test-push.ts'
import * as testDelivery from './test-delivery.ts'
import * as prompts from '../verifications/prompt.ts'
import * as results from '../verifications/results.ts'
import * as tokens from '../verifications/token.ts'
import { deviceHandlers } from './device.ts'
import * as keyHandlers from './key.ts'
import * as nodes from './nodes.ts'
import * as membership from './membership.ts'
import * as onboarding from './onboarding.ts'

// A domain exports each operation under its id. An operation that needs several domains has a file here.

/** A handler for each operation of the table. A missing one does not compile. */
export const handlers: Handlers<Table> = {
  ...organizations,
  setLogo: logos.setLogo,
  removeLogo: logos.removeLogo,
  ...onboarding,
  ...credentials,
  ...limits,
  ...authCodes,
  ...users,
  ...membership,
  ...lookup,
  ...userFactors,
  ...geofences,
  ...timeslots,
  ...keys,
  ...keyHandlers,
  ...keyRotation,
  ...auditLog,
  listEvents,
  ...webhooks,
  ...approvalRequests,
  ...approvalUse,
  ...deviceHandlers,
  ...sessions,
  ...inbox,
  ...approverMembers,
  ...denials,
  ...mutes,
  ...subscriptions,
  ...testPushes,
  beginEnrollment,
  getOwnRequest,
  ...deviceMoves,
  ...ownDevices,
  ...decisions,
  ...consent,
  ...agents,
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
  ...registrations,
  ...requestsByMessage,
  ...notifications,
  ...messages,
  ...testDelivery,
  ...nodes,
}
