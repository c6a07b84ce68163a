import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { toApprovalRecord, findApproval, auditSubject } from '../../src/service/approvals/record.ts'
import type { Handlers } from '../../src/service/call/call.ts'
import { conflict } from '../../src/core/refusal.ts'
import type { approval } from '../../src/contract/approval.ts'
import { ask, createApprover, decide, type Approver } from '../service/approver.ts'
import { createClock, minute } from '../service/clock.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { below, turns } from './approvers.ts'
import { race, type Tally } from './race.ts'

const people = 20
const rounds = 50
const racers = 4

type Consume = Pick<Handlers<typeof approval>, 'consumeApproval'>

/** The broken variant reads that the approval is unused, and then writes. */
const readThenWrite: Consume = {
  consumeApproval: {
    before: async ({ request_id }, { service }) => {
      const row = await service.storage.read((db) => findApproval(db, request_id, { orgId: null }))
      if (row.used_at !== null) throw conflict('already_used', 'too late')
      return async (call) => {
        const used = await call.db
          .updateTable('approvals')
          .set({ used_at: call.now })
          .where('request_id', '=', request_id)
          .returningAll()
          .executeTakeFirstOrThrow()
        await call.audit(used.org_id, auditSubject(request_id), ['used_at'])
        const row_mac = call.keyring.macOf('approvals', used)
        await call.db.updateTable('approvals').set({ row_mac }).where('id', '=', used.id).execute()
        return toApprovalRecord({ ...used, row_mac }, call)
      }
    },
  },
}

const approved = async (service: TestService, approver: Approver, key: string) => {
  const { request_id, subject } = dataOf(await ask(service, approver, {}, key)) as ApprovalRecord
  dataOf(await decide(service, request_id, approver.key))
  return { id: request_id, digest: subject!.digest }
}

const useAtOnce = async (
  service: TestService,
  { id, digest }: { id: string; digest: string },
  key: string,
): Promise<number[]> => {
  const other = digest.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  const attempt = async (body: object): Promise<number> => {
    await turns(below(20))
    return (await service.call('POST', `/svc/v1/approvals/${id}/consume`, { key, body })).status
  }
  return Promise.all([
    ...Array.from({ length: racers }, () => attempt({ digest })),
    // With another digest: it never succeeds, and never uses up the approval.
    attempt({ digest: other }),
  ])
}

const run = async (tally: Tally, times: number, handlers?: Consume): Promise<void> => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  try {
    const { id: org, key } = await createTenant(service, 'acme')
    const approvers: Approver[] = []
    for (let n = 0; n < people; n++) approvers.push(await createApprover(service, org, n))
    for (let round = 0; round < times; round++) {
      const all = await Promise.all(approvers.map((one) => approved(service, one, key)))
      const results = await Promise.all(all.map((one) => useAtOnce(service, one, key)))
      for (const [at, statuses] of results.entries()) {
        tally.count++
        const times = (wanted: number): number => statuses.filter((status) => status === wanted).length
        tally.hit('won', times(200))
        tally.hit('already used', times(409))
        tally.hit('other subject', times(422))
        if (times(200) !== 1 || (!handlers && statuses.at(-1) !== 422))
          tally.wrong(`${all[at]!.id}: ${statuses.join(', ')}`)
      }
      clock.tick(11 * minute)
    }
    // Each is in the audit log once.
    const rows = await service.storage.read((db) =>
      db
        .selectFrom('audit')
        .where('action', '=', 'consumeApproval')
        .select(({ fn }) => ['subject', fn.countAll<number>().as('times')])
        .groupBy('subject')
        .execute(),
    )
    const twice = rows.filter((row) => Number(row.times) !== 1).length
    tally.wrong('not once in the audit log', Math.abs(rows.length - tally.count) + twice)
  } finally {
    await service.close()
  }
}

export const torture = race(
  {
    name: `Using approvals: ${racers} at once with the right digest, one with another`,
    must: 'exactly one succeeds each',
  },
  run,
  { n: rounds, control: 5, broken: readThenWrite },
)
