import { challengeOf } from '../../src/receipt/context.ts'
import { register, createSoftwareKey } from '../../src/client/software-authenticator.ts'
import { forgeAssertion, withCounter } from '../receipt/forge-assertion.ts'
import { type Arena, dataOf, exactly, member, oddOf } from './arena.ts'
import { ballotsOfGroup } from './ballot-race.ts'
import { addOperatorKeys } from './operator-keys.ts'
import { usesOfGrant } from './grant-race.ts'
import { changesOfRules } from './rule-races.ts'
import { enrollApprover, request, type EnrolledApprover } from './enrolled-approver.ts'
import { nextMobile } from './requests.ts'

/** A race, and what is wrong after it. */
export type Race = {
  name: string
  times: number
  run(arena: Arena, n: number): Promise<string | undefined>
}

const baseUrlOf = ({ cluster }: Arena): string => cluster.nodes[0]!.baseUrl

const keyNames: Race = {
  name: 'one key name',
  times: 15,
  run: async (arena, n) => {
    const input = { name: `key ${n}`, org_id: arena.acme.id, scopes: ['ask'] }
    return exactly(1, await arena.race((node) => arena.send(node, 'createKey', input)))
  },
}

const policies: Race = {
  name: 'updates of one policy',
  times: 15,
  run: async (arena, n) => {
    const parts = [
      { recovery_delay_s: 3600 + n },
      { require_number: n % 2 === 0 },
      { not_requester: n % 2 === 0 },
    ]
    const replies = await Promise.all(
      parts.map((policy, node) => arena.send(node, 'updateOrganization', { org_id: arena.acme.id, policy })),
    )
    const wrong = exactly(parts.length, replies)
    if (wrong !== undefined) return wrong
    const shown = await arena.send(0, 'getOrganization', { orgIdOrSlug: String(arena.acme.id) })
    const { policy } = dataOf<{ policy: Record<string, unknown> }>(shown)
    const lost = parts.filter((part) => Object.entries(part).some(([name, value]) => policy[name] !== value))
    return lost.length > 0 ? `lost ${JSON.stringify(lost)}` : undefined
  },
}

const pendingLimit: Race = {
  name: "an approver's limit",
  times: 8,
  run: async (arena) => {
    const { mobile } = await enrollApprover(baseUrlOf(arena), arena.operator, arena.acme.id)
    const input = { action: 'Deploy', approvers: [mobile] }
    const replies = await Promise.all(
      Array.from({ length: 9 }, (_, node) =>
        arena.send(node, 'createApproval', input, { key: arena.acme.key }),
      ),
    )
    return exactly(3, replies)
  },
}

const repeated: Race = {
  name: 'one Idempotency-Key',
  times: 30,
  run: async (arena, n) => {
    const headers = { 'idempotency-key': `race ${n}` }
    const input = member(arena.acme.id)
    const replies = await arena.race((node) => arena.send(node, 'createUser', input, { headers }))
    const wrong = exactly(arena.width, replies)
    if (wrong !== undefined) return wrong
    const ids = new Set(replies.map((reply) => dataOf(reply).id))
    return ids.size === 1 ? undefined : `${ids.size} users`
  },
}

const counter: Race = {
  name: 'one counter of an authenticator',
  times: 20,
  run: async (arena) => {
    const approver = await enrollApprover(baseUrlOf(arena), arena.operator, arena.beta.id)
    const bodies = await Promise.all([0, 1].map(() => countedDecision(arena, approver)))
    const replies = await Promise.all(bodies.map((body, node) => arena.send(node, 'decideApproval', body)))
    return exactly(1, replies)
  },
}

/** The approval of a new request, signed with the counter 1. */
const countedDecision = async (arena: Arena, { mobile, authenticator }: EnrolledApprover) => {
  const input = { action: 'Deploy', approvers: [mobile] }
  const { request_id } = await request(baseUrlOf(arena), 'createApproval', arena.beta.key, input)
  const {
    contexts,
    origin,
    rp_id: rpId,
  } = await request(baseUrlOf(arena), 'getCeremony', arena.beta.key, {
    request_id,
  })
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
  const response = forgeAssertion(authenticator, { challenge, origin, rpId }, { data: withCounter(1) })
  return { request_id, decision: 'approve', response }
}

const registration: Race = {
  name: 'a registration beside the removal of its user',
  times: 30,
  run: async (arena) => {
    const org_id = arena.beta.id
    const { id: user_id } = dataOf(await arena.send(0, 'createUser', member(org_id)))
    const enrollment = await request(baseUrlOf(arena), 'createEnrollment', arena.operator, {
      org_id,
      user_id,
    })
    const { token, challenge, origin, rp_id: rpId, user_handle: userHandle } = enrollment
    const key = createSoftwareKey('EdDSA', { rpId, userHandle })
    const response = register(key, { challenge, origin, rpId })
    const replies = await Promise.all([
      arena.send(0, 'registerDevice', { token, name: 'x', response }),
      arena.send(1, 'removeUser', { org_id, user_id }),
    ])
    const [{ count }] = (await arena.cluster.query<{ count: string }>(
      `select count(*) from devices d where user_id = $1 and state <> 'revoked'
       and not exists (select 1 from memberships m where m.user_id = d.user_id and m.state = 'active')`,
      [user_id],
    )) as [{ count: string }]
    return (
      oddOf(replies) ??
      (replies[1].status === 200 ? undefined : `removing: ${replies[1].text}`) ??
      (count === '0' ? undefined : 'a device of a removed user')
    )
  },
}

const erasure: Race = {
  name: 'a deletion beside another organization that adds the person',
  times: 25,
  run: async (arena) => {
    const mobile = nextMobile()
    const person = (org: number) => member(org, { mobile })
    const { id } = dataOf(await arena.send(0, 'createUser', person(arena.acme.id)))
    const replies = await Promise.all([
      arena.send(0, 'deleteUser', { orgId: arena.acme.id, userId: id }),
      arena.send(1, 'createUser', person(arena.beta.id)),
    ])
    const wrong = exactly(2, replies)
    if (wrong !== undefined) return wrong
    const found = await arena.send(2, 'getUser', { orgId: arena.beta.id, userId: dataOf(replies[1]).id })
    return found.status === 200 ? undefined : `added, and ${found.status}`
  },
}

/** The last one, because it revokes the key that created those of the organizations. */
const lastOperatorKey: Race = {
  name: 'the last operator key',
  times: 8,
  run: async (arena, n) => {
    const { nodes } = arena.cluster
    const [one, other] = await addOperatorKeys(arena.cluster, [`one ${n}`, `other ${n}`])
    const { id } = dataOf(await arena.send(0, 'whoAmI', {}))
    dataOf(await arena.send(0, 'revokeKey', { id }, { key: one.key }))
    const replies = await Promise.all([
      arena.send(0, 'revokeKey', { id: one.id }, { key: other.key }),
      arena.send(1 % nodes.length, 'revokeKey', { id: other.id }, { key: one.key }),
    ])
    const left = await arena.cluster.query<{ id: string }>(
      'select id from api_keys where org_id is null and revoked_at is null',
    )
    const ids = left.map((row) => Number(row.id))
    arena.operator = [one, other].find((key) => ids.includes(key.id))?.key ?? one.key
    return ids.length === 0 ? 'no operator key is left' : exactly(1, replies)
  },
}

export const races: readonly Race[] = [
  keyNames,
  policies,
  pendingLimit,
  repeated,
  counter,
  registration,
  erasure,
  ballotsOfGroup,
  changesOfRules,
  usesOfGrant,
  lastOperatorKey,
]
