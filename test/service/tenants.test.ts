import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SoftwareKey } from '../../src/client/software-authenticator.ts'
import { planRequest } from '../../src/client/request.ts'
import type { Input } from '../../src/contract/operation.ts'
import { type OperationId, type Table, table } from '../../src/contract/table.ts'
import { prepare, type Handler } from '../../src/service/call.ts'
import { createCall } from '../../src/service/create-call.ts'
import { enqueue } from '../../src/service/delivery/enqueue.ts'
import { handlers } from '../../src/service/handlers/all.ts'
import { Refusal } from '../../src/service/refusal.ts'
import { ask as askApprover, createApprover, decide } from './approver.ts'
import { ada, contentsOf, createMember, createTenant, dataOf, fence, refusal, slot } from './fixtures.ts'
import { startTestService, type TestService } from './harness.ts'
import { codeFor, createMobileUser, register, send } from './mobile-user.ts'

/** What an organization has, for an operation to be asked about. */
type Holding = {
  org: number
  slug: string
  user: number
  waiting: number
  fence: number
  slot: number
  code: number
  mobile: string
  device: number
  approval: string
  token: string
  message: string
  /** Who confirmed a phone with the key of the organization. */
  account: number
  authCode: string
  registered: string
  otp: string
  refresh: string
  email: string
  /** The phone of another active member. */
  sender: string
  machine: string
}

const userFence = { name: 'Home', latitude: 1, longitude: 2, radius: 3, enabled: true }
const machineValues = { stockName: 'AAPL', totalPrice: '1', currentStockPrice: '2' }
const machineFields = { ...machineValues, machineName: 'Press', mobile: '+12025550177' }
const named = <T extends object>(fields: T) => fields as never

/** For each operation an input that works for who may; the organization may be another than that of the children. */
const inputs: { [K in OperationId]: (org: Holding, of: Holding) => Input<Table[K]> } = {
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
  listKeys: ({ org }) => ({ org_id: org }),
  createKey: ({ org }) => ({ name: 'new', org_id: org }),
  rotateKey: () => ({ id: 2 }),
  revokeKey: () => ({ id: 2 }),
  listAudit: ({ org }) => ({ org_id: org }),
  getAuditHead: ({ org }) => ({ org_id: org }),
  createApproval: ({ org, mobile }) => ({ org_id: org, action: 'x', approver_mobile: mobile }),
  getApproval: (_, { approval }) => ({ request_id: approval }),
  listApprovals: ({ org }) => ({ org_id: org }),
  cancelApproval: (_, { approval }) => ({ request_id: approval }),
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
  generateAuthToken: ({ org }, { user }) => ({ org_id: org, user_id: user }),
  verifyUser: ({ org, mobile }) => ({ org_id: org, country_code: '+1', mobile: mobile.slice(2) }),
  submitAuthResults: ({ org }, { user, device }) => ({
    org_id: org,
    user_id: String(user),
    biometric_result: 'PASS',
    geo_fence_result: 'PASS',
    device_info: { device_id: String(device), platform: 'ios' },
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

const all = Object.keys(inputs) as OperationId[]
/** What needs no key is proved otherwise; `device.test.ts`, `approvals/` and `approver/` look at those. */
const ids = all.filter((id) => !('open' in table[id]) && !('session' in table[id]))
const isForOperators = (id: OperationId): boolean => 'operator' in table[id]
const sample = (n: number) => ({
  org: n,
  user: n,
  waiting: n,
  fence: n,
  slot: n,
  code: n,
  device: n,
  account: n,
  authCode: `${n}`,
  registered: `${n}`,
  otp: `${n}`,
  refresh: `${n}`,
  email: `${n}`,
  sender: `${n}`,
  machine: `${n}`,
})
/** Operations that take a child by id: what they are asked changes with whose child it is. */
const own = { ...sample(1), slug: 'a', mobile: '+1', approval: 'a', token: 'a', message: 'a' }
const other = { ...sample(2), slug: 'b', mobile: '+2', approval: 'b', token: 'b', message: 'b' }
const takesChild = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](own, other))
const takesOther = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](other, other))

/** What is wrong, used up and another's is one and the same here too, but no 404. */
const secretRefused: Partial<Record<OperationId, [number, string]>> = {
  confirmRegistration: [403, 'otp_invalid'],
  refreshMobileToken: [401, 'refresh_token_invalid'],
}

const namesOrganization = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](other, own))

/** Somebody who has verified on the phone, which nobody asked about yet, and a token that is not spent. */
const verified = async (
  service: TestService,
  of: { user: number; mobile: string; authenticator: SoftwareKey; key: string },
): Promise<string> => {
  const post = async (path: string, body: object) =>
    dataOf(await service.call('POST', path, { key: of.key, body }))
  const { auth_token } = await post('/generate-auth-token', { user_id: of.user })
  const { request_id } = await post('/verify-user', { country_code: '+1', mobile: of.mobile.slice(2) })
  dataOf(await decide(service, request_id, of.authenticator))
  return auth_token
}

const settle = async (service: TestService, slug: string, n: number): Promise<Holding & { key: string }> => {
  const { id: org, key } = await createTenant(service, slug)
  const post = async (path: string, body: object) =>
    dataOf(await service.call('POST', `/organization/${org}/${path}`, { body })).id as number
  // The fence and the slot are there to be found, and hinder nobody, whatever the time is.
  const policy = { report_only: ['location', 'time'] }
  dataOf(await service.call('PUT', `/organization/${org}/update`, { body: { policy } }))
  const { id: user, mobile, device, key: authenticator } = await createApprover(service, org, n)
  const waiting = (await createMember(service, org, n + 1)).id
  await post(`user/${waiting}/pending`, {})
  const account = await createMobileUser(service, {
    key,
    mobile: String(2025550102 + n),
    email: 'x@acme.example',
  })
  const registered = `+1${2025550103 + n}`
  dataOf(await register(service, { key, mobile: registered.slice(2) }))
  dataOf(await send(service, registered, { key }))
  const machine = `press-of-${slug}`
  const body = { machineId: machine, ...machineFields }
  dataOf(await service.call('POST', '/dynamic_auth/register', { key, body }))
  return {
    org,
    slug,
    key,
    email: `user${n}@acme.example`,
    sender: (await createMember(service, org, n + 4)).mobile,
    machine,
    user,
    waiting,
    fence: await post('create/geo-fence', fence),
    slot: await post('timeslots/add', slot),
    code: await post('create/auth-code', { label: 'x' }),
    account: account.user_id,
    refresh: account.refresh_token,
    registered,
    otp: await codeFor(service, registered),
    authCode: dataOf(
      await service.call('POST', `/organization/${org}/create/auth-code`, { body: { label: 'y' } }),
    ).code,
    mobile,
    device,
    approval: dataOf(await askApprover(service, { mobile }, {}, key)).request_id,
    token: await verified(service, { user, mobile, authenticator, key }),
    message: await service.storage.write((db) =>
      enqueue(
        { db, now: service.storage.now(), keyring: service.keyring },
        { org_id: org, channel: 'email', kind: 'notice', to: 'ada@acme.example', text: 'x' },
      ),
    ),
  }
}

const ask = (service: TestService, id: OperationId, input: object, key?: string | null) => {
  const { method, url, body } = planRequest('http://x', table[id], input as Record<string, unknown>)
  const { pathname, search } = new URL(url)
  return service.call(method, pathname + search, { key, body })
}

let service: TestService
let acme: Holding & { key: string }
let foreign: Holding & { key: string }
const open = async () => {
  service = await startTestService({ dev: true })
  acme = await settle(service, 'acme', 10)
  foreign = await settle(service, 'foreign', 20)
}

test('every operation of the table is asked', () => {
  expect(all.toSorted()).toEqual(Object.keys(table).toSorted())
  expect(ids.filter(takesChild).length).toBeGreaterThan(20)
})

const attempt = async (id: OperationId, input: object, key: string | null) => {
  const before = await contentsOf(service)
  const said = refusal(await ask(service, id, input, key))
  return { said, changed: !isDeepStrictEqual(await contentsOf(service), before) }
}
const absent = (id: OperationId) => ({
  said: [...(secretRefused[id] ?? [404, 'not_found']), []],
  changed: false,
})

describe('a key of an organization, refused without a trace', () => {
  beforeAll(open)
  afterAll(() => service.close())

  test.each(ids.filter((id) => takesOther(id) && !isForOperators(id)))(
    "finds nothing of another's with %s",
    async (id) => {
      expect(await attempt(id, inputs[id](foreign, foreign), acme.key)).toEqual(absent(id))
    },
  )

  // The routes have a wall of their own; this goes around it.
  test.each(ids.filter((id) => takesOther(id) && !isForOperators(id)))(
    "finds nothing of another's in the handler of %s",
    async (id) => {
      const before = await contentsOf(service)
      const caller = { keyId: 2, name: 'acme', orgId: acme.org }
      const work = prepare(handlers[id] as Handler<object, unknown>, inputs[id](foreign, foreign), {
        service: service.service,
        caller,
      })
      await work.catch(() => undefined)
      const answered = service.storage.write(async (db) => {
        const { call } = createCall({
          db,
          caller,
          now: service.storage.now(),
          requestId: 'req_1',
          publicUrl: '',
          dev: true,
          wake: () => undefined,
          ring: () => undefined,
          canSend: () => true,
          send: async () => 'msg_1',
          deliver: () => undefined,
          header: () => undefined,
          pushKey: null,
          keyring: service.keyring,
          page: { after: 0 },
          paged: (rows) => rows,
          action: id,
          given: [],
        })
        const data = await (await work)(call)
        if (data instanceof Refusal) throw data
        // What should not have been done is undone, so that the next operation finds it all there.
        throw new Error('answered')
      })
      const [status, code] = secretRefused[id] ?? [404, 'not_found']
      await expect(answered).rejects.toMatchObject({ status, code })
      expect(await contentsOf(service)).toEqual(before)
    },
  )

  test.each(ids.filter((id) => takesChild(id) && !isForOperators(id)))(
    "finds no child of another's in its own organization with %s",
    async (id) => {
      expect(await attempt(id, inputs[id](acme, foreign), acme.key)).toEqual(absent(id))
    },
  )

  test.each(ids.filter((id) => takesChild(id) && namesOrganization(id)))(
    "does not reach its own child by another's organization with %s",
    async (id) => {
      expect(await attempt(id, inputs[id](foreign, acme), acme.key)).toEqual(absent(id))
    },
  )

  test.each(ids.filter(isForOperators))('may not %s', async (id) => {
    expect(await attempt(id, inputs[id](acme, acme), acme.key)).toEqual({
      said: [403, 'operator_only', []],
      changed: false,
    })
  })

  test.each(ids)('is asked for with %s', async (id) => {
    expect(await attempt(id, inputs[id](acme, acme), null)).toEqual({
      said: [401, 'unauthenticated', []],
      changed: false,
    })
  })
})

describe('a key of an organization, at home', () => {
  beforeEach(open)
  afterEach(() => service.close())

  test.each(ids.filter((id) => !isForOperators(id)))('may %s', async (id) => {
    const answer = await ask(service, id, inputs[id](acme, acme), acme.key)
    dataOf(answer)
    expect(JSON.stringify(answer.body)).not.toContain('foreign')
  })
})
