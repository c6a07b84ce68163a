import { randomBytes } from 'node:crypto'
import type { OperationId } from '../../src/contract/table.ts'
import { approve, enrollApprover, enrollDevice, request } from './enrolled-approver.ts'
import { confirmPhone, registerPhone, type Running } from './mobile-account.ts'
import { call, exampleInput, must } from './requests.ts'
import { verifyPerson } from './verified-person.ts'

/** An organization with one of everything, each named with its mark. */
export type Tenant = {
  mark: string
  slug: string
  key: string
  revoked: string
  mobile: string
  email: string
  /** The phone of another active user. */
  sender: string
  /** A pending request of its key. */
  request: string
  /** An approved and unused request of its key, and the digest of its subject. */
  approved: string
  digest: string
  token: string
  verification: string
  /** Of the account that its key confirmed. */
  phone: string
  refresh: string
  /** A registered number, and its one-time code. */
  registered: string
  otp: string
  /** A sent message. */
  message: string
  authCode: string
  webhook: string
  ids: Record<string, number | string>
}

/** The registration of each tenant's machine, except for its ID. */
export const machine = { ...exampleInput('registerMachine'), mobile: '+12025550101' }

/** `log` returns what the service has written so far. */
export const newTenant = async ({ baseUrl, log }: Running, operator: string): Promise<Tenant> => {
  const mark = `zz${randomBytes(6).toString('hex')}`
  const make = (id: OperationId, input: Record<string, unknown>) => must(call(baseUrl, id, operator, input))
  const { id: org } = await make('createOrganization', { name: mark, slug: mark })
  const user = async () =>
    (await make('createUser', { ...exampleInput('createUser'), orgId: org, last_name: mark })).id
  const [active, waiting] = [await user(), await user()]
  const email = `${mark}@acme.example`
  const approver = await enrollApprover(baseUrl, operator, org, { email })
  const sender = await request(baseUrl, 'createUser', operator, { ...exampleInput('createUser'), orgId: org })
  await make('registerMachine', { ...machine, machineId: mark, org_id: org })
  await make('holdUser', { org_id: org, user_id: waiting })
  const fence = await make('createGeofence', { ...exampleInput('createGeofence'), org_id: org, name: mark })
  const slot = await make('addTimeslot', { ...exampleInput('addTimeslot'), org_id: org, name: mark })
  const code = await make('createAuthCode', { org_id: org, label: mark })
  await make('setUserGeofences', { ...exampleInput('setUserGeofences'), userId: active, org_id: org })
  await make('setUserTimeslots', { ...exampleInput('setUserTimeslots'), userId: active, org_id: org })
  const key = await make('createKey', { name: mark, org_id: org, scopes: ['all'] })
  const other = await make('createKey', { name: `${mark} old`, org_id: org, scopes: ['all'] })
  await make('revokeKey', { id: other.id })
  // A key finds only the verifications that it started.
  const person = await verifyPerson(baseUrl, key.key, org, approver)
  const account = await confirmPhone({ baseUrl, log }, key.key, { last_name: mark, email })
  const waitingPhone = await registerPhone({ baseUrl, log }, key.key, { last_name: mark })
  // A key withdraws and consumes only its own requests.
  const approval = (more = {}) =>
    request(baseUrl, 'createApproval', key.key, { action: mark, approvers: [approver.mobile], ...more })
  const approved = await approval({ use_within_s: 86_400 })
  await approve(baseUrl, operator, approved.request_id, approver)
  // A rule must be satisfied also when one of its people asks.
  await enrollDevice(baseUrl, operator, org, sender.id)
  await make('createGroup', { org_id: org, name: mark, members: [approver.user, sender.id] })
  const match = { type: 'command', argv: [mark, '**'] }
  await make('createRule', { org_id: org, name: mark, match, who: [`@${mark}`] })
  const webhook = await request(baseUrl, 'createWebhook', operator, {
    url: 'https://hooks.example.com/svc',
    org_id: org,
  })
  return {
    mark,
    slug: mark,
    key: key.key,
    revoked: other.key,
    mobile: approver.mobile,
    email,
    sender: sender.mobile_e164,
    request: (await approval()).request_id,
    approved: approved.request_id,
    digest: approved.subject!.digest,
    token: person.token,
    verification: person.verification,
    phone: account.mobile,
    refresh: account.refresh_token,
    registered: waitingPhone.mobile,
    otp: waitingPhone.otp,
    message: waitingPhone.message_id,
    authCode: (await request(baseUrl, 'createAuthCode', operator, { org_id: org, label: mark })).code,
    webhook: webhook.webhook_id,
    ids: {
      org,
      person: person.user,
      active,
      waiting,
      fence: fence.id,
      slot: slot.id,
      code: code.id,
      key: key.id,
      device: approver.device,
      pendingDevice: (await enrollDevice(baseUrl, operator, org, approver.user)).device,
      account: account.user_id,
    },
  }
}
