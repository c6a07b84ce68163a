import type { approval, ApprovalRecord } from '../../src/contract/approval.ts'
import type { device } from '../../src/contract/device.ts'
import { toApprovalRecord, findApproval, auditSubject } from '../../src/service/approvals/record.ts'
import { sweep } from '../../src/service/approvals/expiry.ts'
import type { Call, Handlers } from '../../src/service/call/call.ts'
import { conflict } from '../../src/core/refusal.ts'
import { ask, createApprover, post, show, signed, type Approver } from '../service/approver.ts'
import { createClock, minute, second } from '../service/clock.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { below, turns } from './approvers.ts'
import type { Result, Torture } from './torture.ts'
import { receiptStatus } from './receipt-status.ts'

const people = 50
const rounds = 20

type Racing = Pick<Handlers<typeof approval>, 'withdrawApproval'> &
  Pick<Handlers<typeof device>, 'decideApproval'>

const end = async (
  call: Call,
  request_id: string,
  set: { status: ApprovalRecord['status']; detail: string | null },
) => {
  const row = await call.db
    .updateTable('approvals')
    .set({ ...set, ended_at: call.now })
    .where('request_id', '=', request_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await call.audit(row.org_id, auditSubject(request_id), ['status'])
  return toApprovalRecord(row, call)
}

/** The broken variant reads that the request is pending, and then writes. */
const readThenWrite: Racing = {
  withdrawApproval: {
    before: async ({ request_id }, { service }) => {
      const row = await service.storage.read((db) => findApproval(db, request_id, { orgId: null }))
      if (row.status !== 'pending') throw conflict('ended', 'too late')
      return (call) => end(call, request_id, { status: 'expired', detail: 'withdrawn by the requester' })
    },
  },
  decideApproval: {
    before: async ({ request_id, decision }, { service }) => {
      const row = await service.storage.read((db) => findApproval(db, request_id, { orgId: null }))
      if (row.status !== 'pending') throw conflict('ended', 'too late')
      const status = decision === 'approve' ? 'approved' : 'denied'
      return (call) => end(call, request_id, { status, detail: null })
    },
  },
}

type Request = { id: string; approve: object; deny: object; reported: string[]; first?: ApprovalRecord }

const prepareRequest = async (service: TestService, approver: Approver, key: string): Promise<Request> => {
  const lifetime_s = 1 + below(60)
  const { request_id: id } = dataOf(await ask(service, approver, { lifetime_s }, key))
  return {
    id,
    approve: { decision: 'approve', response: await signed(service, id, 'approve', approver.key) },
    deny: { decision: 'deny', response: await signed(service, id, 'deny', approver.key) },
    reported: [],
  }
}

const outcomeOf = ({ status, detail }: ApprovalRecord): string =>
  status === 'expired' && detail?.startsWith('withdrawn') ? 'withdrawn' : status

/** Approves, denies, withdraws and expires the requests of one round at the same time. */
const raceAll = async (
  service: TestService,
  clock: ReturnType<typeof createClock>,
  requests: Request[],
  key: string,
): Promise<void> => {
  const racing = { left: requests.length * 3 }
  const racers = requests.flatMap((request) => {
    const attempts = [
      ['approved', () => post(service, request.id, request.approve)],
      ['denied', () => post(service, request.id, request.deny)],
      [
        'withdrawn',
        () => service.call('POST', `/svc/v1/approvals/${request.id}/withdraw`, { key, body: {} }),
      ],
    ] as const
    return attempts.map(async ([outcome, attempt]) => {
      await turns(below(60))
      if ((await attempt()).status === 200) request.reported.push(outcome)
      racing.left--
    })
  })
  const time = async (): Promise<void> => {
    while (racing.left > 0) {
      clock.tick(second / 2)
      await sweep(service.service)
      await turns(1)
    }
  }
  await Promise.all([...racers, time()])
}

const run = async (handlers: Racing | undefined, times: number) => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  const hits: Record<string, number> = { approved: 0, denied: 0, withdrawn: 0, expired: 0, 'too late': 0 }
  const examples: string[] = []
  let failures = 0
  const wrong = (request: Request, what: string): void => {
    failures++
    if (examples.length < 5) examples.push(`${request.id}: ${what}`)
  }
  try {
    const { id: org, key } = await createTenant(service, 'acme')
    const approvers: Approver[] = []
    for (let n = 0; n < people; n++) approvers.push(await createApprover(service, org, n))
    const all: Request[] = []
    for (let round = 0; round < times; round++) {
      const requests = await Promise.all(approvers.map((one) => prepareRequest(service, one, key)))
      await raceAll(service, clock, requests, key)
      clock.tick(11 * minute)
      for (const request of requests) {
        const record: ApprovalRecord = dataOf(await show(service, request.id))
        request.first = record
        const outcome = outcomeOf(record)
        hits[outcome]!++
        hits['too late']! += 3 - request.reported.length
        const outcomes = request.reported.join(' and ')
        if (outcomes !== (outcome === 'expired' ? '' : outcome))
          wrong(request, `reported ${outcomes}, was ${outcome}`)
        const receipt = receiptStatus(record)
        if (!handlers && receipt !== (record.decided_at === null ? undefined : record.status))
          wrong(request, `${record.status}, and the receipt says ${String(receipt)}`)
      }
      all.push(...requests)
    }
    // Everything again after all requests have ended: nothing may change. Only what was counted is answered as it was.
    clock.tick(-60 * minute)
    for (const request of all) {
      for (const [outcome, body] of [
        ['approved', request.approve],
        ['denied', request.deny],
      ] as const)
        if ((await post(service, request.id, body)).status === 200 && outcome !== request.first?.status)
          wrong(request, 'decided again')
      const now = dataOf(await show(service, request.id))
      if (JSON.stringify(now) !== JSON.stringify(request.first)) wrong(request, 'changed later')
    }
    const ends = await service.storage.read((db) =>
      db
        .selectFrom('audit')
        .where('action', 'in', ['decideApproval', 'withdrawApproval', 'expireApproval'])
        .where('changes', 'not like', '%repeated%')
        .select(({ fn }) => ['subject', fn.countAll<number>().as('times')])
        .groupBy('subject')
        .execute(),
    )
    failures += ends.filter(({ times: written }) => Number(written) !== 1).length
    failures += Math.abs(ends.length - all.length)
    return { count: all.length, failures, hits, examples }
  } finally {
    await service.close()
  }
}

export const torture: Torture = {
  name: 'Approvals: approve, deny, withdraw and expire, all at once',
  must: 'exactly one outcome each, never changed later',
  run: async (): Promise<Result> => {
    const honest = await run(undefined, rounds)
    const broken = await run(readThenWrite, 6)
    return { ...honest, control: broken.failures }
  },
}
