import type { approval, ApprovalRecord } from '../../src/contract/approval.ts'
import type { device } from '../../src/contract/device.ts'
import { conflict } from '../../src/core/refusal.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { sweep } from '../../src/service/approvals/expiry.ts'
import { findApproval, toApprovalRecord, auditSubject } from '../../src/service/approvals/record.ts'
import type { Handlers } from '../../src/service/call/call.ts'
import { findAlteredRows } from '../../src/service/custody/altered-rows.ts'
import { type Approver, createApprover, post, show, signed } from '../service/approver.ts'
import { createClock, minute, second } from '../service/clock.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { below, turns } from './approvers.ts'
import { race, type Tally } from './race.ts'

const rounds = 150
/** An organization has a limit of groups. */
const roundsOfTenant = 30

type Racing = Pick<Handlers<typeof approval>, 'withdrawApproval'> &
  Pick<Handlers<typeof device>, 'decideApproval'>

/** The broken variant counts yeses, whoever gave them and for which line, and looks at the state before it writes. */
const countYeses: Partial<Racing> = {
  decideApproval: {
    before: async ({ request_id, decision }, { service }) => {
      const row = await service.storage.read((db) => findApproval(db, request_id, { orgId: null }))
      if (row.status !== 'pending') throw conflict('ended', 'too late')
      return async (call) => {
        const now = await findApproval(call.db, request_id, { orgId: null })
        const yeses = JSON.parse(now.answers ?? '[]') as unknown[]
        if (decision === 'approve') yeses.push([0, 'approved', call.now])
        const status = decision === 'deny' ? 'denied' : yeses.length >= 3 ? 'approved' : now.status
        const use_by = status === 'approved' ? '9999-01-01T00:00:00.000Z' : null
        const changes = { status, use_by, answers: JSON.stringify(yeses) } as const
        const row_mac = call.keyring.macOf('approvals', { ...now, ...changes })
        const next = await call.db
          .updateTable('approvals')
          .set({ ...changes, row_mac })
          .where('request_id', '=', request_id)
          .returningAll()
          .executeTakeFirstOrThrow()
        await call.audit(next.org_id, auditSubject(request_id), ['status'])
        return toApprovalRecord(next, call)
      }
    },
  },
}

type Stage = { service: TestService; clock: ReturnType<typeof createClock>; org: number; key: string }
type Asked = { id: string; people: Approver[]; group: string }

/** Asks two of a group and one of another. The first person is in both, so each of the three must agree. */
const prepare = async ({ service, org, key }: Stage, n: number): Promise<Asked> => {
  const people: Approver[] = []
  for (let i = 0; i < 3; i++) people.push(await createApprover(service, org, n * 3 + i + 1))
  const [ada, grace, alan] = people.map(({ id }) => id)
  const groups = { [`dba-${n}`]: [ada, grace], [`security-${n}`]: [ada, alan] }
  for (const [name, members] of Object.entries(groups))
    dataOf(await service.call('POST', `/svc/v1/organizations/${org}/groups`, { body: { name, members } }))
  const approvers = [`@dba-${n}`, `@security-${n}`]
  if (below(2) === 0) approvers[0] += ':2'
  const body = { action: `Deploy ${n}`, approvers, lifetime_s: 1 + below(60) }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key, body }))
  return { id: request_id, people, group: `dba-${n}` }
}

/** What was answered with 200. */
type Reported = { approve: number; deny: number; withdrawn: boolean }

const raceOne = async (
  { service, clock, org, key }: Stage,
  { id, people, group }: Asked,
): Promise<Reported> => {
  const reported: Reported = { approve: 0, deny: 0, withdrawn: false }
  const decisions = people.map(() => (below(8) === 0 ? 'deny' : 'approve') as 'approve' | 'deny')
  const bodies: object[] = []
  for (const [at, { key: own }] of people.entries()) {
    const decision = decisions[at]!
    bodies.push({ decision, response: await signed(service, id, decision, own) })
  }
  const answer = async (at: number): Promise<void> => {
    await turns(below(60))
    if ((await post(service, id, bodies[at]!)).status === 200) reported[decisions[at]!]++
  }
  const organization = `/svc/v1/organizations/${org}`
  const others: [chance: number, act: () => Promise<unknown>][] = [
    [
      6,
      async () => {
        const { status } = await service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key, body: {} })
        reported.withdrawn = status === 200
      },
    ],
    [6, () => service.call('DELETE', `${organization}/devices/${people[2]!.device}`)],
    [6, () => service.call('DELETE', `${organization}/groups/${group}/members/${people[1]!.id}`)],
    [8, () => service.call('DELETE', `/organization/${org}/remove/${people[1]!.id}`)],
  ]
  const racing = { left: people.length }
  const time = async (): Promise<void> => {
    while (racing.left > 0) {
      clock.tick(second / 2)
      await sweep(service.service)
      await turns(1)
    }
  }
  await Promise.all([
    ...people.map((_, at) => answer(at).finally(() => racing.left--)),
    ...others.map(async ([chance, act]) => {
      if (below(chance) > 0) return
      await turns(below(60))
      await act()
    }),
    time(),
  ])
  return reported
}

/** What is wrong with the end of a request; undefined if nothing is. */
const problemOf = async (
  { service, clock }: Stage,
  record: ApprovalRecord,
  { deny, withdrawn }: Reported,
): Promise<string | undefined> => {
  const { status, attestation } = record
  if (deny + Number(withdrawn) > 1) return `${deny} denials and withdrawn: ${withdrawn}`
  if (deny > 0 && status !== 'denied') return `a denial counted, and it is ${status}`
  if (withdrawn && status !== 'expired') return `withdrawn, and it is ${status}`
  if (status !== 'approved') return attestation?.format === 'set' ? `${status} with a set` : undefined
  const expected = { issuer: service.service.publicUrl, organization: 'acme', allowDev: true, need: 2 }
  const { body: jwks } = await service.call('GET', '/.well-known/jwks.json', { key: null })
  const { valid, receipts } = await verifyReceipt(attestation, jwks, expected, new Date(clock.iso()))
  if (!valid) return 'approved without a set that proves it'
  return new Set(receipts.map(({ approver }) => approver.user_id)).size < 2 ? 'one person twice' : undefined
}

const runTenant = async (tally: Tally, times: number, handlers?: Partial<Racing>): Promise<void> => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers: handlers as never })
  try {
    const { id: org, key } = await createTenant(service, 'acme')
    const stage = { service, clock, org, key }
    for (let n = 0; n < times; n++) {
      const asked = await prepare(stage, n)
      const reported = await raceOne(stage, asked)
      clock.tick(2 * minute)
      await sweep(service.service)
      const record: ApprovalRecord = dataOf(await show(service, asked.id))
      tally.count++
      tally.hit(record.status)
      const problem = record.status === 'pending' ? 'never ended' : await problemOf(stage, record, reported)
      if (problem) tally.wrong(`${asked.id}: ${problem}`)
    }
    if (!handlers) for (const row of await findAlteredRows(service.service)) tally.wrong(JSON.stringify(row))
  } finally {
    await service.close()
  }
}

export const torture = race<Partial<Racing>>(
  {
    name: 'Ballots: two groups, with yes, no, withdrawal, expiry and people who leave at once',
    must: 'exactly one outcome, distinct people for each line, a set only if approved',
  },
  async (tally, times, broken) => {
    for (let done = 0; done < times; done += roundsOfTenant)
      await runTenant(tally, Math.min(roundsOfTenant, times - done), broken)
  },
  { n: rounds, control: 20, broken: countYeses },
)
