import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '../../src/client/software-authenticator.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { type Arena, dataOf, oddOf } from './arena.ts'
import { below } from './approvers.ts'
import { enrollApprover, request, type EnrolledApprover } from './enrolled-approver.ts'
import type { Reply } from './requests.ts'
import { receiptStatus } from './receipt-status.ts'

const approvers = 40
/** More requests than this to one approver would be refused. */
const perApprover = 4
const expiringS = 3
/** How long a decision takes beside those of all others, and how far the ways to end a request are apart. */
const decideMs = 200
const spreadMs = 400

const outcomes = ['approved', 'denied', 'withdrawn', 'expired'] as const

type Prepared = {
  id: string
  digest: string
  bodies: Record<'approve' | 'deny', Record<string, unknown>>
  raceAt: number
}

/** A request with both of its decisions signed. Every second one races with its own expiry. */
const prepare = async (arena: Arena, approver: EnrolledApprover, expires: boolean): Promise<Prepared> => {
  const { baseUrl } = arena.cluster.nodes[0]!
  const { mobile, authenticator } = approver
  const { request_id, subject, expires_at } = await request(baseUrl, 'createApproval', arena.acme.key, {
    action: 'Deploy',
    approvers: [mobile],
    ...(expires && { lifetime_s: expiringS }),
  })
  const ceremony = await request(baseUrl, 'getCeremony', arena.acme.key, { request_id })
  const { contexts, origin, rp_id: rpId } = ceremony
  const sign = (decision: 'approve' | 'deny') => {
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts[decision], 'base64url')))
    return { request_id, decision, response: assert(authenticator, { challenge, origin, rpId }) }
  }
  return {
    id: request_id,
    digest: subject!.digest,
    bodies: { approve: sign('approve'), deny: sign('deny') },
    raceAt: expires ? Date.parse(expires_at) : 0,
  }
}

const outcomeOf = ({ status, detail }: ApprovalRecord): string =>
  status === 'expired' && detail?.startsWith('withdrawn') ? 'withdrawn' : status

const after = async (ms: number, work: () => Promise<Reply>): Promise<Reply> => {
  await pause(ms)
  return work()
}

/** Ends a request in every way at once, uses it at every node, and returns what is wrong. */
const raceOne = async (
  arena: Arena,
  { id, digest, bodies, raceAt }: Prepared,
  hits: Record<string, number>,
) => {
  const first = below(4)
  const input = { request_id: id }
  const { key } = arena.acme
  // A decision takes longer than the other ways, because the signature is verified first.
  const start = raceAt === 0 ? 0 : Math.max(0, raceAt - decideMs - spreadMs / 2 - Date.now())
  const soon = (work: () => Promise<Reply>, laterMs = 0) => after(start + laterMs + below(spreadMs), work)
  const replies = await Promise.all([
    soon(() => arena.send(first, 'decideApproval', bodies.approve)),
    soon(() => arena.send(first + 1, 'decideApproval', bodies.deny)),
    soon(() => arena.send(first + 2, 'withdrawApproval', input, { key }), decideMs),
  ])
  const used = await arena.race((node) => arena.send(node, 'consumeApproval', { ...input, digest }, { key }))
  const shown: ApprovalRecord[] = []
  for (let node = 0; node < arena.cluster.nodes.length; node++)
    shown.push(dataOf<ApprovalRecord>(await arena.send(node, 'getApproval', input, { key })))
  // A request that is still pending expires later.
  const outcome = outcomeOf(shown[0]!)
  hits[outcome] = (hits[outcome] ?? 0) + 1
  const reported = outcomes.filter((_, at) => replies[at]?.status === 200).join(' and ')
  const uses = used.filter(({ status }) => status === 200).length
  const wrong: (string | undefined)[] = [
    oddOf([...replies, ...used]),
    reported === (outcome === 'expired' || outcome === 'pending' ? '' : outcome)
      ? undefined
      : `reported ${reported}, is ${outcome}`,
    uses === (outcome === 'approved' ? 1 : 0) ? undefined : `${outcome}, and used ${uses} times`,
    new Set(shown.map((one) => JSON.stringify(one))).size === 1 ? undefined : 'differs between nodes',
    receiptStatus(shown[0]!) === (shown[0]!.decided_at === null ? undefined : outcome)
      ? undefined
      : `${outcome}, and the receipt says ${String(receiptStatus(shown[0]!))}`,
  ]
  return wrong.find((one) => one !== undefined)
}

/** Does everything; puts into `wrong` what fails, which a broken variant also does while a race is prepared. */
const settle = async <T>(work: Promise<T>[], wrong: string[]): Promise<T[]> => {
  const done: T[] = []
  for (const one of await Promise.allSettled(work))
    if (one.status === 'fulfilled') done.push(one.value)
    else wrong.push(String(one.reason))
  return done
}

/** Races for `count` requests; returns what went wrong. */
export const raceApprovals = async (arena: Arena, count: number, hits: Record<string, number>) => {
  const wrong: string[] = []
  const { baseUrl } = arena.cluster.nodes[0]!
  for (let left = count; left > 0; left -= approvers * perApprover) {
    const enrolled = Array.from({ length: approvers }, () =>
      enrollApprover(baseUrl, arena.operator, arena.acme.id),
    )
    const people = await settle(enrolled, wrong)
    for (let turn = 0; turn < Math.min(perApprover, left / approvers); turn++) {
      const prepared = people.map((one, n) => prepare(arena, one, n % 2 === 0))
      const racing = (await settle(prepared, wrong)).map((one) => raceOne(arena, one, hits))
      wrong.push(...(await settle(racing, wrong)).filter((one) => one !== undefined))
    }
  }
  const twice = await arena.cluster.query<{ subject: string; times: string }>(
    `select subject, count(*) as times from audit where action in ('decideApproval', 'withdrawApproval', 'expireApproval')
     group by subject having count(*) <> 1`,
  )
  return [...wrong, ...twice.map(({ subject, times }) => `${subject} ended ${times} times`)]
}
