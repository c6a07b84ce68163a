import { randomBytes } from 'node:crypto'
import type { OperationId } from '../../src/contract/table.ts'
import { startService, temporaryFolder } from '../e2e/processes.ts'
import { enrollApprover, request } from './enrolled-approver.ts'
import { call, exampleInput, must, operationIds, operationOf, type Reply } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { verifyPerson } from './verified-person.ts'

/** An organization with one of everything, each named with its mark. */
type Tenant = {
  mark: string
  slug: string
  key: string
  revoked: string
  mobile: string
  email: string
  /** The phone of another active user. */
  sender: string
  request: string
  token: string
  verification: string
  ids: Record<string, number>
}

const machine = { ...exampleInput('registerMachine'), mobile: '+12025550101' }

const newTenant = async (baseUrl: string, operator: string): Promise<Tenant> => {
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
  const key = await make('createKey', { name: mark, org_id: org })
  const other = await make('createKey', { name: `${mark} old`, org_id: org })
  await make('revokeKey', { id: other.id })
  const person = await verifyPerson(baseUrl, operator, org, approver)
  const asked = { action: mark, approver_mobile: approver.mobile, org_id: org }
  return {
    mark,
    slug: mark,
    key: key.key,
    revoked: other.key,
    mobile: approver.mobile,
    email,
    sender: sender.mobile,
    request: (await request(baseUrl, 'createApproval', operator, asked)).request_id,
    token: person.token,
    verification: person.verification,
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
    },
  }
}

const waits = new Set<OperationId>(['acceptUser', 'rejectUser'])

/** The input of an operation with the organization of one tenant and all below it of another. */
const inputOf = (id: OperationId, org: Tenant, child: Tenant): Record<string, unknown> => {
  const input = exampleInput(id)
  const user = child.ids[waits.has(id) ? 'waiting' : 'active']
  const ids: Record<string, unknown> = {
    org_id: org.ids.org,
    orgId: org.ids.org,
    orgIdOrSlug: String(org.ids.org),
    org_code: org.slug,
    user_id: user,
    userId: user,
    authCodeId: child.ids.code,
    auth_code_id: child.ids.code,
    timeslot_id: child.ids.slot,
    device_id: child.ids.device,
    request_id: child.request,
    // Of its own organization: another's phone is answered like one that nobody has.
    approver_mobile: org.mobile,
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
  if (id === 'saveFaceauthSuccess') input.auth_token = child.token
  if (id === 'registerMachine')
    Object.assign(input, { machineId: randomBytes(6).toString('hex'), mobile: org.mobile })
  if (id === 'loginMachine') input.machineId = org.mark
  if (id === 'verifyMachine') input.machine_id = child.mark
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
  delete input.cursor
  return input
}

/** Operations in which nothing but the caller's key says which organization is meant. */
const withoutOrg = new Set<OperationId>([
  'listOrganizations',
  'createOrganization',
  'onboardOrganization',
  'getStockPrice',
])
const withoutChild = (id: OperationId): boolean =>
  !Object.keys(exampleInput(id)).some((name) =>
    [
      'user_id',
      'userId',
      'authCodeId',
      'auth_code_id',
      'timeslot_id',
      'id',
      'device_id',
      'request_id',
      'machine_id',
    ].includes(name),
  )

const everything: OperationId[] = [
  'listUsers',
  'listGeofences',
  'listTimeslots',
  'listAuthCodes',
  'getApiCredentials',
  'listApprovals',
  'listAudit',
]
/** Open ones are proved by a token or a signature and not by a key, those of the page by the cookie of a device. */
const keyed = operationIds.filter((id) => !operationOf(id).open && !operationOf(id).session)

const snapshot = async (baseUrl: string, operator: string, tenant: Tenant): Promise<string> => {
  const parts = [call(baseUrl, 'getOrganization', operator, { orgIdOrSlug: tenant.slug })]
  for (const id of everything) parts.push(call(baseUrl, id, operator, { org_id: tenant.ids.org }))
  parts.push(call(baseUrl, 'listDevices', operator, { org_id: tenant.ids.org, user_id: tenant.ids.active }))
  for (const id of ['listUserGeofences', 'listUserTimeslots'] as const)
    parts.push(call(baseUrl, id, operator, { userId: tenant.ids.active, org_id: tenant.ids.org }))
  return (await Promise.all(parts))
    .map((reply) => reply.text)
    .join('\n')
    .replaceAll(/"last_used_at":("[^"]*"|null)/g, '')
}

/** The whole matrix. `attacker` says which key is used against the other tenant: its own, or, broken, the operator's. */
const matrix = async (baseUrl: string, operator: string, attacker: (own: Tenant) => string) => {
  const hits: Record<string, number> = {
    own: 0,
    "other's": 0,
    "other's child": 0,
    slug: 0,
    'no key': 0,
    revoked: 0,
  }
  const examples: string[] = []
  let count = 0
  let failures = 0
  const wrong = (cell: string, id: string, reply: Reply): void => {
    failures++
    if (examples.length < 5) examples.push(`${id} ${cell}: ${reply.status} ${reply.text.slice(0, 120)}`)
  }
  for (const id of keyed) {
    const own = await newTenant(baseUrl, operator)
    const other = await newTenant(baseUrl, operator)
    const before = await snapshot(baseUrl, operator, other)
    const refused = async (
      cell: string,
      statuses: number[],
      key: string | undefined,
      input: Record<string, unknown>,
    ) => {
      count++
      hits[cell]!++
      const reply = await call(baseUrl, id, key, input)
      if (!statuses.includes(reply.status) || reply.text.includes(other.mark)) wrong(cell, id, reply)
    }
    await refused('no key', [401], undefined, inputOf(id, own, own))
    await refused('revoked', [401], own.revoked, inputOf(id, own, own))
    const forbidden = operationOf(id).operator ? [403] : [404]
    if (!withoutOrg.has(id)) await refused("other's", forbidden, attacker(own), inputOf(id, other, other))
    if (!withoutChild(id)) await refused("other's child", forbidden, attacker(own), inputOf(id, own, other))
    if (id === 'getOrganization') await refused('slug', [404], attacker(own), { orgIdOrSlug: other.slug })
    if (id === 'getUserOrganization')
      await refused('slug', [404], attacker(own), { user_id: own.ids.active, org_code: other.slug })

    count++
    hits.own!++
    const reply = await call(baseUrl, id, own.key, inputOf(id, own, own))
    if (operationOf(id).operator ? reply.status !== 403 : reply.status >= 300) wrong('own', id, reply)
    if (reply.text.includes(other.mark)) wrong('own', id, reply)
    if ((await snapshot(baseUrl, operator, other)) !== before) {
      failures++
      examples.push(`${id}: the other tenant changed`)
    }
  }
  return { count, failures, hits, examples }
}

/** Ids of both tenants in any place of any input, with one tenant's key: nothing of the other may be seen. */
const swaps = async (baseUrl: string, operator: string, attacker: (own: Tenant) => string, times: number) => {
  const own = await newTenant(baseUrl, operator)
  const other = await newTenant(baseUrl, operator)
  const harmless = keyed.filter((id) => id !== 'deleteOrganization')
  const before = await snapshot(baseUrl, operator, other)
  let failures = 0
  for (let i = 0; i < times; i++) {
    const id = harmless[i % harmless.length]!
    const [org, child] = [Math.random() < 0.5 ? own : other, Math.random() < 0.5 ? own : other]
    const reply = await call(baseUrl, id, attacker(own), inputOf(id, org, child))
    if (reply.text.includes(other.mark) || reply.status >= 500) failures++
  }
  if ((await snapshot(baseUrl, operator, other)) !== before) failures++
  return failures
}

export const torture: Torture = {
  name: 'Tenants: every operation by every form of another organization, and random id swaps',
  must: '0 reads, 0 writes, every own cell 2xx',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const operator = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const service = await startService(folder.path, operator, ['--dev'])
    try {
      const honest = await matrix(service.baseUrl, operator, (own) => own.key)
      const swapped = await swaps(service.baseUrl, operator, (own) => own.key, 1_000)
      const broken = await matrix(service.baseUrl, operator, () => operator)
      return {
        count: honest.count + 1_000,
        failures: honest.failures + swapped,
        hits: { ...honest.hits, swaps: 1_000 },
        control: broken.failures,
        examples: honest.examples,
      }
    } finally {
      await service.stop()
      folder.remove()
    }
  },
}
