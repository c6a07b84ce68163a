import { assert } from '../../src/client/software-authenticator.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { type Arena, dataOf, oddOf, successes } from './arena.ts'
import { below } from './approvers.ts'
import { enrollApprover, request, type EnrolledApprover } from './enrolled-approver.ts'
import type { Race } from './race-kinds.ts'

const members = 20
const need = 12

type Decision = 'approve' | 'deny'

const sign = async (
  { cluster, beta }: Arena,
  request_id: string,
  { authenticator }: EnrolledApprover,
  decision: Decision,
) => {
  const input = { request_id, credential: authenticator.credential_id }
  const { baseUrl } = cluster.nodes[0]!
  const { contexts, origin, rp_id: rpId } = await request(baseUrl, 'getCeremony', beta.key, input)
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts[decision], 'base64url')))
  return { request_id, decision, response: assert(authenticator, { challenge, origin, rpId }) }
}

/** What is wrong with the receipts of an approved request. */
const unproven = async ({ cluster }: Arena, { attestation }: ApprovalRecord): Promise<string | undefined> => {
  const { baseUrl } = cluster.nodes[0]!
  const jwks: unknown = await (await fetch(new URL('/.well-known/jwks.json', baseUrl))).json()
  const issuer = String(attestation?.format === 'set' && attestation.completion.claims['iss'])
  const expected = { issuer, organization: 'beta', allowDev: true, need }
  const { valid, receipts } = await verifyReceipt(attestation, jwks, expected, new Date())
  const people = new Set(receipts.map(({ approver }) => approver.user_id)).size
  return valid && people >= need
    ? undefined
    : `approved with the receipts of ${people} people, valid: ${valid}`
}

/** Twelve of a group of twenty must agree: all twenty answer at once, at every node; sometimes one denies, or the requester withdraws. */
export const ballotsOfGroup: Race = {
  name: 'the ballots of a group of twenty',
  times: 8,
  run: async (arena, n) => {
    const { beta, cluster, operator } = arena
    const people = await Promise.all(
      Array.from({ length: members }, (_, at) =>
        enrollApprover(cluster.nodes[at % cluster.nodes.length]!.baseUrl, operator, beta.id),
      ),
    )
    const group = { org_id: beta.id, name: `crowd-${n}`, members: people.map(({ user }) => user) }
    dataOf(await arena.send(0, 'createGroup', group))
    const input = { action: `Deploy ${n}`, approvers: [`@crowd-${n}:${need}`] }
    const { request_id } = dataOf<ApprovalRecord>(
      await arena.send(0, 'createApproval', input, { key: beta.key }),
    )
    const denier = below(2) === 0 ? below(members) : undefined
    const bodies = await Promise.all(
      people.map((one, at) => sign(arena, request_id, one, at === denier ? 'deny' : 'approve')),
    )
    const [withdrawn, ...answers] = await Promise.all([
      below(4) === 0
        ? arena.send(1, 'withdrawApproval', { request_id }, { key: beta.key })
        : arena.send(1, 'getApproval', { request_id }, { key: beta.key }),
      ...bodies.map((body, at) => arena.send(at, 'decideApproval', body)),
    ])
    const shown: ApprovalRecord[] = []
    for (let node = 0; node < cluster.nodes.length; node++)
      shown.push(dataOf(await arena.send(node, 'getApproval', { request_id }, { key: beta.key })))
    const record = shown[0]!
    const used = await arena.race((node) =>
      arena.send(node, 'consumeApproval', { request_id, digest: record.subject!.digest }, { key: beta.key }),
    )
    const denied = denier !== undefined && answers[denier]!.status === 200
    const yeses = successes(answers).length - Number(denied)
    const uses = successes(used).length
    if (new Set(shown.map((one) => JSON.stringify(one))).size > 1) return 'differs between nodes'
    const odd = oddOf([withdrawn, ...answers, ...used])
    if (odd !== undefined) return odd
    if (record.status === 'pending') return `pending after ${yeses} yeses`
    if ((record.status === 'denied') !== denied) return `${record.status}, and the denial counted: ${denied}`
    if (uses !== Number(record.status === 'approved')) return `${record.status}, and used ${uses} times`
    if (record.status !== 'approved')
      return record.attestation?.format === 'set' ? `${record.status} with a set` : undefined
    return yeses === need ? unproven(arena, record) : `approved with ${yeses} yeses`
  },
}
