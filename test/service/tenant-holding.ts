import type { SoftwareKey } from '../../src/client/software-authenticator.ts'
import { addMs } from '../../src/core/iso-time.ts'
import { newSecret } from '../../src/service/keys/authenticator.ts'
import { insertKeyRow } from '../../src/service/keys/rows.ts'
import { enqueue } from '../../src/service/delivery/enqueue.ts'
import { newSigningSecret } from '../../src/service/events/signature.ts'
import { wrapTarget } from '../../src/service/call/webhook-target.ts'
import { ask, createApprover, enroll, decide } from './approver.ts'
import { createMember, createTenant, dataOf, fence, slot } from './fixtures.ts'
import type { TestService } from './harness.ts'
import { codeFor, createMobileUser, register, send } from './mobile-user.ts'

/** What an organization has, for an operation to be asked about. */
export type Holding = {
  org: number
  /** Its API key. */
  keyId: string
  /** A key whose owner has no device. */
  owned: string
  slug: string
  user: string
  waiting: string
  fence: number
  slot: string
  code: string
  mobile: string
  device: string
  /** Of the same user, and waiting. */
  pendingDevice: string
  approval: string
  /** A request that is approved and not used yet, and the digest of its subject. */
  approved: string
  digest: string
  token: string
  message: string
  webhook: string
  /** Who confirmed a phone with the key of the organization. */
  account: string
  authCode: string
  registered: string
  otp: string
  refresh: string
  email: string
  /** The phone of another active member. */
  sender: string
  machine: string
  /** An agent that the user connected, and that the user has muted. */
  agent: string
  /** A group, and somebody with a device who is not in it. */
  group: string
  grace: string
  /** A rule that asks the group about calls that no test makes. */
  rule: string
}

export const machineValues = { stockName: 'AAPL', totalPrice: '1', currentStockPrice: '2' }
export const machineFields = { ...machineValues, machineName: 'Press', mobile: '+12025550177' }

/** Somebody who has verified on the phone, which nobody asked about yet, and a token that is not spent. */
const verified = async (
  service: TestService,
  of: { user: string; mobile: string; authenticator: SoftwareKey; key: string },
): Promise<string> => {
  const post = async (path: string, body: object) =>
    dataOf(await service.call('POST', path, { key: of.key, body }))
  const { auth_token } = await post('/generate-auth-token', { user_id: of.user })
  const { request_id } = await post('/verify-user', { country_code: '+1', mobile: of.mobile.slice(2) })
  dataOf(await decide(service, request_id, of.authenticator))
  return auth_token
}

const approvedRequest = async (
  service: TestService,
  { mobile, authenticator, key }: { mobile: string; authenticator: SoftwareKey; key: string },
): Promise<Pick<Holding, 'approved' | 'digest'>> => {
  const { request_id, subject } = dataOf(await ask(service, { mobile }, { use_within_s: 86_400 }, key))
  dataOf(await decide(service, request_id, authenticator))
  return { approved: request_id, digest: subject.digest }
}

const connectedAgent = (service: TestService, org_id: number, user: string): Promise<string> =>
  service.storage.write(
    async (db) => {
      const created_at = service.storage.now()
      const expires_at = addMs(created_at, 86_400_000)
      const owner = { org_id, owner_user_id: Number(user), created_by: null }
      const agent = { audience: 'http://127.0.0.1:8080/mcp', client_id: 'c', client_name: 'c' }
      const values = { name: 'Claude', scopes: 'ask', created_at, expires_at, ...owner, ...agent }
      const { id } = await insertKeyRow({ db, keyring: service.keyring }, newSecret('organization'), values)
      const until = addMs(created_at, 20 * 60_000)
      await db
        .insertInto('mutes')
        .values({ org_id, user_id: Number(user), key_id: id, agent: '', until })
        .execute()
      return String(id)
    },
    { org: org_id },
  )

/** A webhook with an address to which the service does not connect. */
const addWebhook = async ({ storage, keyring }: TestService, org_id: number): Promise<string> => {
  const webhook_id = `wh_of-${org_id}`
  const target = {
    org_id,
    url: 'https://127.0.0.1/',
    format: 'json' as const,
    scopes: [],
    secrets: [{ secret: newSigningSecret() }],
  }
  const times = { created_at: storage.now(), updated_at: storage.now() }
  const wrapped = wrapTarget(keyring, webhook_id, target)
  const place = { cursor_seq: 0, failing_since: null, error: null }
  await storage.write(
    (db) =>
      db
        .insertInto('webhooks')
        .values({ webhook_id, org_id, types: '', wrapped, state: 'active', ...place, ...times })
        .execute(),
    { org: 0 },
  )
  return webhook_id
}

/** An organization that has one of each. */
export const settle = async (
  service: TestService,
  slug: string,
  n: number,
): Promise<Holding & { key: string }> => {
  const { id: org, key, keyId } = await createTenant(service, slug)
  const post = async (path: string, body: object) =>
    dataOf(await service.call('POST', `/organization/${org}/${path}`, { body })).id
  // The fence and the slot exist, but never deny anything.
  const policy = { report_only: ['location', 'time'] }
  dataOf(await service.call('PUT', `/organization/${org}/update`, { body: { policy } }))
  const { id: user, mobile, device, key: authenticator } = await createApprover(service, org, n)
  const { device: pendingDevice } = await enroll(service, org, user)
  const grace = await createApprover(service, org, n + 5)
  const alan = await createApprover(service, org, n + 6)
  const group = { name: `of-${slug}`, members: [user, alan.id] }
  dataOf(await service.call('POST', `/svc/v1/organizations/${org}/groups`, { body: group }))
  const rule = { name: `of-${slug}`, match: { type: 'file', file: ['nothing'] }, who: [`@${group.name}`] }
  dataOf(await service.call('POST', `/svc/v1/organizations/${org}/rules`, { body: rule }))
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
  const sender = await createMember(service, org, n + 4)
  const named = { name: 'owned', org_id: org, scopes: ['ask'], owner_user_id: sender.id }
  const { id: owned } = dataOf(await service.call('POST', '/svc/v1/keys', { body: named }))
  const machine = `press-of-${slug}`
  const body = { machineId: machine, ...machineFields }
  dataOf(await service.call('POST', '/dynamic_auth/register', { key, body }))
  return {
    org,
    slug,
    key,
    keyId,
    owned,
    email: `user${n}@acme.example`,
    agent: await connectedAgent(service, org, user),
    sender: sender.mobile_e164,
    machine,
    group: `of-${slug}`,
    rule: rule.name,
    grace: grace.id,
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
    pendingDevice,
    ...(await approvedRequest(service, { mobile, authenticator, key })),
    approval: dataOf(await ask(service, { mobile }, {}, key)).request_id,
    webhook: await addWebhook(service, org),
    token: await verified(service, { user, mobile, authenticator, key }),
    message: await service.storage.write(
      (db) =>
        enqueue(
          { db, now: service.storage.now(), keyring: service.keyring },
          { org_id: org, channel: 'email', kind: 'notice', to: 'ada@acme.example', text: 'x' },
        ),
      { org: 0 },
    ),
  }
}
