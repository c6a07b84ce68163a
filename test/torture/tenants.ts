import { randomBytes } from 'node:crypto'
import type { OperationId } from '../../src/contract/table.ts'
import { startService } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Running } from './mobile-account.ts'
import { call, exampleInput, operationIds, operationOf, type Reply } from './requests.ts'
import { newTenant, type Tenant } from './tenant.ts'
import { inputOf } from './tenant-input.ts'
import type { Result, Torture } from './torture.ts'

/** Operations that do not distinguish wrong, used and foreign, but return no 404. */
const secretRefused: Partial<Record<OperationId, number>> = {
  confirmRegistration: 403,
  refreshMobileToken: 401,
}

/** An owner is a field of the new key, so a foreign one is invalid input. */
const childRefused: Partial<Record<OperationId, number>> = {
  createKey: 422,
  // Nobody is signed in with the key, whoever is named.
  setAway: 403,
}

/**
 * A sent message is not sent again: found, and refused. A mute exists only after a report; the tests of the service try those of another tenant.
 */
const ownRefused: Partial<Record<OperationId, number>> = {
  retryMessage: 409,
  deleteMute: 404,
  // The tests of grants try that of another tenant.
  revokeGrant: 404,
  // The people of the group, or an administrator whom another key appointed, would have to approve it.
  createGroup: 409,
  addGroupMember: 409,
  removeGroupMember: 404,
  deleteGroup: 409,
  createRule: 409,
  deleteRule: 409,
  setRules: 409,
  // The people of its rule must agree.
  deleteOrganization: 403,
  // No rule holds its rows.
  createBatch: 409,
  // Its key has no owner.
  confirmKeyOwner: 409,
  // Nobody is signed in with it.
  setAway: 403,
  reviewApproval: 403,
}

/** Operations in which only the caller's key selects the organization. */
const withoutOrg = new Set<OperationId>([
  'listOrganizations',
  'listChannels',
  'whoAmI',
  'createOrganization',
  'onboardOrganization',
  'getStockPrice',
  'registerMobileUser',
  'sendOtp',
  'contactSupport',
])
/** The `device_id` of a registration is chosen by the app, and is unused here. */
const withoutChild = (id: OperationId): boolean =>
  id === 'registerMobileUser' ||
  !Object.keys(exampleInput(id)).some((name) =>
    [
      'user_id',
      'userId',
      'owner_user_id',
      'authCodeId',
      'auth_code_id',
      'timeslot_id',
      'id',
      'device_id',
      'request_id',
      'machine_id',
      'message_id',
      'webhook_id',
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
  'listAlteredRows',
  'listGroups',
  'listRules',
]
/** Open operations are proved by a token or a signature, those of the page by the cookie of a device. */
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

/** The whole matrix. `attacker` returns the key for the other tenant: its own or, in the broken variant, the operator's. */
const matrix = async (service: Running, operator: string, attacker: (own: Tenant) => string) => {
  const { baseUrl } = service
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
  const tryOne = async (id: OperationId): Promise<void> => {
    const own = await newTenant(service, operator)
    const other = await newTenant(service, operator)
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
    const forbidden = operationOf(id).operator ? [403] : [secretRefused[id] ?? 404]
    if (!withoutOrg.has(id)) await refused("other's", forbidden, attacker(own), inputOf(id, other, other))
    const child = childRefused[id] === undefined ? forbidden : [childRefused[id]]
    if (!withoutChild(id)) await refused("other's child", child, attacker(own), inputOf(id, own, other))
    if (id === 'getOrganization') await refused('slug', [404], attacker(own), { orgIdOrSlug: other.slug })
    if (id === 'getUserOrganization')
      await refused('slug', [404], attacker(own), { user_id: own.ids.active, org_code: other.slug })

    count++
    hits.own!++
    const reply = await call(baseUrl, id, own.key, inputOf(id, own, own))
    const denied = ownRefused[id] ?? (operationOf(id).operator ? 403 : undefined)
    if (denied === undefined ? reply.status >= 300 : reply.status !== denied) wrong('own', id, reply)
    if (reply.text.includes(other.mark)) wrong('own', id, reply)
    if ((await snapshot(baseUrl, operator, other)) !== before) {
      failures++
      examples.push(`${id}: the other tenant changed`)
    }
  }
  // Each operation has two tenants of its own, whose preparation takes longest.
  const waiting = [...keyed]
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id; id = waiting.shift()) await tryOne(id)
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return { count, failures, hits, examples }
}

/** IDs of both tenants in any place of any input, with one tenant's key. Nothing of the other may be visible. */
const swaps = async (
  service: Running,
  operator: string,
  attacker: (own: Tenant) => string,
  times: number,
) => {
  const { baseUrl } = service
  const own = await newTenant(service, operator)
  const other = await newTenant(service, operator)
  // These would end what all other calls need.
  const harmless = keyed.filter((id) => !['deleteOrganization', 'revokeKey', 'rotateKey'].includes(id))
  const before = await snapshot(baseUrl, operator, other)
  const examples: string[] = []
  for (let i = 0; i < times; i++) {
    const id = harmless[i % harmless.length]!
    const [org, child] = [Math.random() < 0.5 ? own : other, Math.random() < 0.5 ? own : other]
    const input = inputOf(id, org, child)
    const reply = await call(baseUrl, id, attacker(own), input)
    // A refusal repeats the name that was typed.
    const isTyped = reply.status >= 400 && JSON.stringify(input).includes(other.mark)
    const isOut = reply.text.includes('"unauthenticated"')
    if ((reply.text.includes(other.mark) && !isTyped) || isOut || reply.status >= 500)
      examples.push(`${id} swapped: ${reply.status} ${reply.text.slice(0, 120)}`)
  }
  if ((await snapshot(baseUrl, operator, other)) !== before)
    examples.push('swapped: the other tenant changed')
  return examples
}

export const torture: Torture = {
  name: 'Tenants: every operation with every form of another organization, and random ID swaps',
  must: '0 reads, 0 writes, 2xx for every own object',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const operator = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const service = await startService(folder.path, operator, ['--dev'], {
      SVC_SUPPORT_EMAIL: 'support@service.example',
    })
    try {
      const honest = await matrix(service, operator, (own) => own.key)
      const swapped = await swaps(service, operator, (own) => own.key, 1_000)
      const broken = await matrix(service, operator, () => operator)
      return {
        count: honest.count + 1_000,
        failures: honest.failures + swapped.length,
        hits: { ...honest.hits, swaps: 1_000 },
        control: broken.failures,
        examples: [...honest.examples, ...swapped.slice(0, 5)],
      }
    } finally {
      await service.stop()
      folder.remove()
    }
  },
}
