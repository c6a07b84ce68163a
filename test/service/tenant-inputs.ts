import type { Input } from '../../src/contract/operation.ts'
import { type OperationId, type Table, table } from '../../src/contract/table.ts'
import { ada, fence, slot } from './fixtures.ts'
import { machineFields, machineValues, type Holding } from './tenant-holding.ts'

const userFence = { name: 'Home', latitude: 1, longitude: 2, radius: 3, enabled: true }
const named = <T extends object>(fields: T) => fields as never

/** For each operation an input that works for who may; the organization may be another than that of the children. */
export const inputs: { [K in OperationId]: (org: Holding, of: Holding) => Input<Table[K]> } = {
  listOrganizations: () => ({}),
  getOrganization: ({ slug }) => ({ orgIdOrSlug: slug }),
  createOrganization: () => ({ name: 'New' }),
  onboardOrganization: () => ({ name: 'New', ...ada }),
  updateOrganization: ({ org }) => ({ org_id: org, name: 'Changed' }),
  deleteOrganization: ({ org }) => ({ org_id: org }),
  getApiCredentials: ({ org }) => ({ org_id: org }),
  setIdpCredentials: ({ org }) => ({ org_id: org, provider: 'p', client_id: 'c', client_secret: 's' }),
  listAuthCodes: ({ org }) => ({ org_id: org }),
  createAuthCode: ({ org }) => ({ org_id: org, label: 'x' }),
  updateAuthCode: ({ org }, { code }) => ({ orgId: org, authCodeId: code, label: 'y' }),
  deleteAuthCode: ({ org }, { code }) => ({ org_id: org, auth_code_id: code }),
  listUsers: ({ org }) => ({ org_id: org }),
  getUser: ({ org }, { user }) => ({ orgId: org, userId: user }),
  createUser: ({ org }) => ({ orgId: org, ...ada, mobile: '2025550177' }),
  updateUser: ({ org }, { user }) => ({ orgId: org, userId: user, first_name: 'Eve' }),
  deleteUser: ({ org }, { user }) => ({ orgId: org, userId: user }),
  removeUser: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  getUserDetails: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  getUserOrganization: ({ slug }, { user }) => ({ user_id: user, org_code: slug }),
  listUserOrganizations: (_, { user }) => ({ user_id: user }),
  makeAdmin: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  listPendingUsers: ({ org }) => ({ org_id: org }),
  acceptUser: ({ org }, { waiting }) => ({ org_id: org, user_id: waiting }),
  rejectUser: ({ org }, { waiting }) => ({ org_id: org, user_id: waiting }),
  holdUser: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  listUserRules: ({ org }) => ({ org_id: org }),
  listGeofences: ({ org }) => ({ org_id: org }),
  getGeofence: ({ org }, { fence: id }) => ({ org_id: org, id }),
  createGeofence: ({ org }) => named({ org_id: org, ...fence }),
  updateGeofence: ({ org }, { fence: id }) => ({ org_id: org, id, radius: 1 }),
  deleteGeofence: ({ org }, { fence: id }) => ({ org_id: org, id }),
  listUserGeofences: (_, { user }) => ({ userId: user }),
  setUserGeofences: (_, { user }) => ({ userId: user, geofences: [userFence] }),
  checkGeofence: ({ org }, { user }) => ({ org_id: org, user_id: user, latitude: 1, longitude: 2 }),
  listTimeslots: ({ org }) => ({ org_id: org }),
  addTimeslot: ({ org }) => named({ org_id: org, ...slot }),
  updateTimeslot: (_, { slot: id }) => ({ timeslot_id: id, name: 'Changed' }),
  deleteTimeslot: (_, { slot: id }) => ({ timeslot_id: id }),
  listUserTimeslots: (_, { user }) => ({ userId: user }),
  setUserTimeslots: (_, { user }) => named({ userId: user, timeslots: [slot] }),
  checkTimeslot: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  whoAmI: () => ({}),
  listKeys: ({ org }) => ({ org_id: org }),
  getKey: () => ({ id: '2' }),
  createKey: ({ org }) => ({ name: 'new', org_id: org, scopes: ['ask'] }),
  rotateKey: () => ({ id: '2' }),
  revokeKey: () => ({ id: '2' }),
  listAudit: ({ org }) => ({ org_id: org }),
  getAuditHead: ({ org }) => ({ org_id: org }),
  listAlteredRows: ({ org }) => ({ org_id: org }),
  createApproval: ({ org, mobile }) => ({ org_id: org, action: 'x', approver_mobile: mobile }),
  getApproval: (_, { approval }) => ({ request_id: approval }),
  listApprovals: ({ org }) => ({ org_id: org }),
  cancelApproval: (_, { approval }) => ({ request_id: approval }),
  consumeApproval: (_, { approved, digest }) => ({ request_id: approved, digest }),
  createEnrollment: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  registerDevice: () => ({ token: 'x', name: 'x', response: { id: 'x', response: {} } }),
  listDevices: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  revokeDevice: ({ org }, { device }) => ({ org_id: org, device_id: device }),
  listOutbox: ({ org }) => ({ org_id: org }),
  listChannels: () => ({}),
  getMessage: (_, { message }) => ({ message_id: message }),
  retryMessage: (_, { message }) => ({ message_id: message }),
  testDelivery: () => ({ channel: 'email', to: 'ada@acme.example' }),
  getCeremony: (_, { approval }) => ({ request_id: approval }),
  decideApproval: () => ({ request_id: 'x', decision: 'deny', response: { id: 'x', response: {} } }),
  beginEnrollment: () => ({ token: 'x' }),
  verifyEmail: () => ({ token: 'x' }),
  beginSession: () => ({}),
  openSession: () => ({ challenge: 'x', response: { id: 'x', response: {} } }),
  getSession: () => ({}),
  closeSession: () => ({}),
  listInbox: () => ({}),
  subscribePush: () => ({ endpoint: 'x', keys: { p256dh: 'x', auth: 'x' } }),
  listMembers: () => ({}),
  beginMemberMove: (_, { waiting }) => ({ user_id: waiting, move: 'accept' }),
  moveMember: (_, { waiting }) => ({
    user_id: waiting,
    move: 'accept',
    challenge: 'x',
    response: { id: 'x', response: {} },
  }),
  approveDevice: ({ org }, { device }) => ({ org_id: org, device_id: device }),
  refuseDevice: ({ org }, { pendingDevice }) => ({ org_id: org, device_id: pendingDevice }),
  listOwnDevices: () => ({}),
  beginDeviceMove: (_, { device }) => ({ device_id: device, move: 'approve' }),
  moveDevice: (_, { device }) => ({
    device_id: device,
    move: 'approve',
    challenge: 'x',
    response: { id: 'x', response: {} },
  }),
  sendDeviceCode: () => ({ challenge: 'x', response: { id: 'x', response: {} } }),
  beginDeviceRefusal: (_, { device }) => ({ device_id: device }),
  refuseNewDevice: (_, { device }) => ({
    device_id: device,
    challenge: 'x',
    response: { id: 'x', response: {} },
  }),
  generateAuthToken: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  verifyUser: ({ org, mobile }) => ({ org_id: org, country_code: '+1', mobile: mobile.slice(2) }),
  submitAuthResults: ({ org }, { user, device }) => ({
    org_id: org,
    user_id: user,
    biometric_result: 'PASS',
    geo_fence_result: 'PASS',
    device_info: { device_id: device, platform: 'ios' },
    timestamp: new Date().toISOString(),
  }),
  validateAuth: ({ org }, { mobile }) => ({ org_id: org, mobile }),
  saveFaceauthSuccess: (_, { token }) => ({ auth_token: token }),
  registerMobileUser: () => ({ ...ada, mobile: '2025550177' }),
  sendOtp: () => ({ mobile: '+12025550177' }),
  confirmRegistration: (_, { registered, otp }) => ({ mobile: registered, otp }),
  refreshMobileToken: (_, { refresh }) => ({ refresh_token: refresh }),
  contactSupport: () => ({ name: 'Ada', email: 'ada@x.example', subject: 'x', message: 'x' }),
  getEnrollmentStatus: (_, { account }) => ({ user_id: account }),
  isEnrolled: (_, { account }) => ({ user_id: account }),
  checkImei: (_, { account }) => ({ imei: '352099001761481', user_id: account }),
  assignOrganization: (_, { account, authCode }) => ({ user_id: account, auth_code: authCode }),
  checkOrganization: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  resendEmailVerification: (_, { account }) => ({ user_id: account }),
  updateProfile: (_, { account }) => ({ user_id: account, first_name: 'Eve' }),
  getMobileUser: (_, { registered }) => ({ mobile: registered }),
  registerMachine: ({ org }) => ({ org_id: org, machineId: 'new', ...machineFields }),
  loginMachine: ({ org, machine }) => ({ org_id: org, machineId: machine, ...machineValues }),
  verifyMachine: ({ org }, { machine }) => ({ org_id: org, machine_id: machine }),
  getStockPrice: () => ({ Symbol: 'AAPL' }),
  sendGlobalNotification: ({ org }) => ({
    org_id: org,
    mobile: '+12025550177',
    type: 'notice',
    message: 'x',
  }),
  sendAuthRequestByEmail: ({ org, email }) => ({ org_id: org, email, action: 'x' }),
  sendAppAuthNotification: ({ org, mobile, sender }) => ({
    org_id: org,
    from_mobile: sender,
    to_mobile: mobile,
    action: 'x',
  }),
}

export const all = Object.keys(inputs) as OperationId[]
/** What needs no key is proved otherwise; `device.test.ts`, `approvals/` and `approver/` look at those. */
export const ids = all.filter((id) => !('open' in table[id]) && !('session' in table[id]))
export const isForOperators = (id: OperationId): boolean => 'operator' in table[id]
const sample = (n: number) => ({
  org: n,
  user: `${n}`,
  waiting: `${n}`,
  fence: n,
  slot: `${n}`,
  code: `${n}`,
  device: `${n}`,
  pendingDevice: `${n}`,
  account: `${n}`,
  authCode: `${n}`,
  registered: `${n}`,
  otp: `${n}`,
  refresh: `${n}`,
  email: `${n}`,
  sender: `${n}`,
  machine: `${n}`,
  approved: `apr_${n}`,
  digest: String(n).repeat(64),
})
/** Operations that take a child by id: what they are asked changes with whose child it is. */
const own = { ...sample(1), slug: 'a', mobile: '+1', approval: 'a', token: 'a', message: 'a' }
const other = { ...sample(2), slug: 'b', mobile: '+2', approval: 'b', token: 'b', message: 'b' }
export const takesChild = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](own, other))
export const takesOther = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](other, other))

/** What is wrong, used up and another's is one and the same here too, but no 404. */
export const secretRefused: Partial<Record<OperationId, [number, string]>> = {
  confirmRegistration: [403, 'otp_invalid'],
  refreshMobileToken: [401, 'refresh_token_invalid'],
}

export const namesOrganization = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](other, own))
