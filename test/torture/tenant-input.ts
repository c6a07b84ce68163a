import { randomBytes } from 'node:crypto'
import type { OperationId } from '../../src/contract/table.ts'
import { exampleInput, nextMobile, operationOf } from './requests.ts'
import { machine, type Tenant } from './tenant.ts'

/** Mobile operations on a known person, by user ID. */
const onAccount = new Set<OperationId>([
  'getEnrollmentStatus',
  'isEnrolled',
  'checkImei',
  'assignOrganization',
  'checkOrganization',
  'resendEmailVerification',
  'updateProfile',
])

/** Further input of a mobile operation. */
const mobileInput = (id: OperationId, org: Tenant, child: Tenant): Record<string, unknown> => {
  if (id === 'sendOtp') return { mobile: `+1${nextMobile()}` }
  if (id === 'confirmRegistration') return { mobile: org.registered, otp: child.otp }
  if (id === 'refreshMobileToken') return { refresh_token: child.refresh }
  if (id === 'contactSupport') return { mobile: undefined, email: `${nextMobile()}@acme.example` }
  if (id === 'getMobileUser') return { mobile: org.phone }
  if (!onAccount.has(id)) return {}
  const user_id = id === 'checkOrganization' ? child.ids.active : child.ids.account
  return { user_id, mobile: undefined, ...(id === 'assignOrganization' && { auth_code: org.authCode }) }
}

/** Further input of an operation on groups and rules, which are named with the mark of their tenant. */
const ruleInput = (id: OperationId, child: Tenant): Record<string, unknown> => {
  if (id === 'createGroup')
    return { name: randomBytes(6).toString('hex').replace(/^./, 'g'), members: [child.ids.active] }
  if (id === 'createRule')
    return {
      name: 'other',
      match: { type: 'text' },
      except: undefined,
      factors: undefined,
      break_glass: undefined,
      who: [`@${child.mark}`],
    }
  if (id === 'setRules') return { removed: [child.mark] }
  if (id === 'testRule') return { type: 'command', key: child.ids.key }
  return /(?:Group|GroupMember|Rule)$/.test(id) ? { name: child.mark } : {}
}

const waits = new Set<OperationId>(['acceptUser', 'rejectUser'])

/** The input of an operation with the organization of one tenant and everything below from another. */
export const inputOf = (id: OperationId, org: Tenant, child: Tenant): Record<string, unknown> => {
  const input = exampleInput(id)
  const user = child.ids[waits.has(id) ? 'waiting' : 'active']
  const ids: Record<string, unknown> = {
    org_id: org.ids.org,
    orgId: org.ids.org,
    orgIdOrSlug: String(org.ids.org),
    org_code: org.slug,
    user_id: user,
    owner_user_id: user,
    userId: user,
    authCodeId: child.ids.code,
    auth_code_id: child.ids.code,
    timeslot_id: child.ids.slot,
    device_id: child.ids[id === 'refuseDevice' ? 'pendingDevice' : 'device'],
    request_id: id === 'consumeApproval' ? child.approved : child.request,
    webhook_id: child.webhook,
    digest: child.digest,
    // In its own organization, another tenant's phone gets the same response as an unknown one.
    approvers: [org.mobile],
    id: operationOf(id).path.startsWith('/svc/') ? child.ids.key : child.ids.fence,
  }
  for (const name of Object.keys(input)) if (name in ids) input[name] = ids[name]
  if (id === 'verifyUser') input.mobile = org.mobile.slice(2)
  if (id === 'validateAuth') Object.assign(input, { mobile: org.mobile, request_id: child.verification })
  if (id === 'generateAuthToken') Object.assign(input, { user_id: child.ids.person, mobile: undefined })
  if (id === 'submitAuthResults')
    Object.assign(input, {
      user_id: String(child.ids.person),
      device_info: { device_id: String(child.ids.device), platform: 'ios' },
      timestamp: new Date().toISOString(),
      request_id: child.verification,
    })
  Object.assign(input, mobileInput(id, org, child), ruleInput(id, child))
  if (id === 'getMessage' || id === 'retryMessage') input.message_id = child.message
  if (id === 'saveFaceauthSuccess') input.auth_token = child.token
  if (id === 'registerMachine')
    Object.assign(input, { machineId: randomBytes(6).toString('hex'), mobile: org.mobile })
  if (id === 'loginMachine') Object.assign(input, machine, { machineId: org.mark, org_id: org.ids.org })
  if (id === 'verifyMachine' || id === 'deleteMachine') input.machine_id = child.mark
  if (id === 'sendGlobalNotification') input.mobile = org.mobile
  if (id === 'sendAuthRequestByEmail') input.email = org.email
  if (id === 'sendAppAuthNotification')
    Object.assign(input, { from_mobile: org.sender, to_mobile: org.mobile })
  if (/^send.*(?:ByEmail|Notification)$/.test(id)) delete input.factors
  if (id === 'getUserDetails' || id === 'listUserOrganizations') {
    delete input.mobile
    delete input.email
  }
  if (id === 'listUsers') for (const name of ['state', 'mobile', 'email']) delete input[name]
  for (const name of ['factors', 'wait_s', 'status'])
    if (id.endsWith('Approval') || id === 'listApprovals') delete input[name]
  if (id === 'updateUser') for (const name of ['country_code', 'mobile']) delete input[name]
  if (id === 'createAuthCode' || id === 'updateAuthCode') delete input.expires_at
  if (id === 'updateOrganization' || id === 'createOrganization') delete input.slug
  // Times are typed as people say them, and sent as others.
  if (id === 'setAway') Object.assign(input, { from: undefined, until: '2030-01-31T18:00:00Z' })
  if (id === 'createApproval') delete input.break_glass
  if (id === 'createBatch')
    input.rows = [{ operation: 'removeUser', input: { org_id: org.ids.org, user_id: child.ids.active } }]
  // Events are listed from a time or after an event, here without a wait for the next one.
  if (id === 'listEvents') for (const name of ['after', 'wait_s']) delete input[name]
  delete input.cursor
  return input
}
