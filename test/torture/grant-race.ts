import { assert } from '../../src/client/software-authenticator.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { challengeOf, contextBytes, readContext } from '../../src/receipt/context.ts'
import { command } from '../service/approvals/command-subject.ts'
import { type Arena, dataOf, oddOf } from './arena.ts'
import { enrollApprover, request, type EnrolledApprover } from './enrolled-approver.ts'
import type { Race } from './race-kinds.ts'

const uses = 3
const racers = 8

const grant = async (
  { cluster, beta, send }: Arena,
  request_id: string,
  { authenticator }: EnrolledApprover,
): Promise<void> => {
  const input = { request_id, credential: authenticator.credential_id }
  const ceremony = await request(cluster.nodes[0]!.baseUrl, 'getCeremony', beta.key, input)
  const context = readContext(new Uint8Array(Buffer.from(ceremony.contexts.approve, 'base64url')))
  const bytes = contextBytes({ ...context, grant: ceremony.grant })
  const { origin, rp_id: rpId } = ceremony
  const response = assert(authenticator, { challenge: challengeOf(bytes), origin, rpId })
  dataOf(await send(0, 'decideApproval', { request_id, decision: 'approve', grant: true, response }))
}

/** A grant of three uses is used by eight at once, at every node; every other time it is ended in the same instant. */
export const usesOfGrant: Race = {
  name: 'the uses of a grant',
  times: 10,
  run: async (arena, n) => {
    const { beta, cluster, operator, send } = arena
    const people = [
      await enrollApprover(cluster.nodes[0]!.baseUrl, operator, beta.id),
      await enrollApprover(cluster.nodes[0]!.baseUrl, operator, beta.id),
    ]
    const subject = command('kubectl', 'delete', 'pod', `web-${n}`)
    const group = { org_id: beta.id, name: `granting-${n}`, members: people.map(({ user }) => user) }
    dataOf(await send(0, 'createGroup', group))
    const match = { type: 'command', argv: subject.data.argv }
    const rule = { name: `granted-${n}`, match, who: [`@granting-${n}`], grant: { max_s: 600, uses } }
    dataOf(await send(0, 'createRule', { org_id: beta.id, ...rule }))
    const ask = (node: number) => send(node, 'createApproval', { subject }, { key: beta.key })
    const first = dataOf<ApprovalRecord>(await ask(0))
    await grant(arena, first.request_id, people[0]!)
    const isEnded = n % 2 === 1
    const [ended, ...asked] = await Promise.all([
      isEnded
        ? send(1, 'revokeGrant', { org_id: beta.id, request_id: first.request_id })
        : send(1, 'listGrants', { org_id: beta.id }),
      ...Array.from({ length: racers }, (_, node) => ask(node)),
    ])
    const odd = oddOf([ended, ...asked])
    if (odd !== undefined) return odd
    const records = asked.filter(({ status }) => status === 200).map((reply) => dataOf<ApprovalRecord>(reply))
    const used = records.filter(({ status }) => status === 'approved')
    const numbers = used.map(({ grant_use }) => grant_use)
    if (new Set(numbers).size < numbers.length || used.length > uses)
      return `used ${numbers.join(', ')} of ${uses}`
    if (!isEnded && used.length < uses) return `used only ${used.length} times`
    const consumed = await Promise.all(
      used.flatMap(({ request_id, subject: of }, node) =>
        [node, node + 1].map((at) =>
          send(at, 'consumeApproval', { request_id, digest: of!.digest }, { key: beta.key }),
        ),
      ),
    )
    const done = consumed.filter(({ status }) => status === 200).length
    if (done !== (isEnded ? 0 : used.length)) return `${done} of ${used.length} uses, ended: ${isEnded}`
    dataOf(await send(0, 'deleteRule', { org_id: beta.id, name: rule.name }))
    return undefined
  },
}
