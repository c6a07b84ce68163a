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
import type { Result, Torture } from './torture.ts'

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

const race = async (
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

const run = async (handlers: Consume | undefined, times: number) => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  const hits: Record<string, number> = { won: 0, 'already used': 0, 'other subject': 0 }
  const examples: string[] = []
  let [count, failures] = [0, 0]
  try {
    const { id: org, key } = await createTenant(service, 'acme')
    const approvers: Approver[] = []
    for (let n = 0; n < people; n++) approvers.push(await createApprover(service, org, n))
    for (let round = 0; round < times; round++) {
      const all = await Promise.all(approvers.map((one) => approved(service, one, key)))
      const results = await Promise.all(all.map((one) => race(service, one, key)))
      for (const [at, statuses] of results.entries()) {
        count++
        const won = statuses.filter((status) => status === 200).length
        hits.won! += won
        hits['already used']! += statuses.filter((status) => status === 409).length
        hits['other subject']! += statuses.filter((status) => status === 422).length
        if (won === 1 && (handlers || statuses.at(-1) === 422)) continue
        failures++
        if (examples.length < 5) examples.push(`${all[at]!.id}: ${statuses.join(', ')}`)
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
    failures += Math.abs(rows.length - count) + rows.filter((row) => Number(row.times) !== 1).length
    return { count, failures, hits, examples }
  } finally {
    await service.close()
  }
}

export const torture: Torture = {
  name: `Using approvals: ${racers} at once with the right digest, one with another`,
  must: 'exactly one succeeds each',
  run: async (): Promise<Result> => {
    const honest = await run(undefined, rounds)
    const broken = await run(readThenWrite, 5)
    return { ...honest, control: broken.failures }
  },
}
