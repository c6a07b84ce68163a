import type { approval, ApprovalRecord } from '../../src/contract/approval.ts'
import { requestsPerApprover, requestsPerKey, checkLimits } from '../../src/service/approvals/limits.ts'
import type { Call, Handlers } from '../../src/service/call/call.ts'
import { namedKeyOf } from '../../src/service/call/caller.ts'
import { dataOf } from '../service/fixtures.ts'
import { startTestService } from '../service/harness.ts'
import { createCrowd } from './approvers.ts'
import { race, type Tally } from './race.ts'

const approvers = 10
const requests = 500
const keys = 20
const pendingAtMost = 3

type Create = Pick<Handlers<typeof approval>, 'createApproval'>

/** The broken variant checks the limits first and adds the request afterwards. */
const lookFirst: Create = {
  createApproval: {
    before: async ({ approvers: [mobile] = [] }, { service, caller }) => {
      const { storage, keyring } = service
      const member = await storage.read((db) =>
        db
          .selectFrom('memberships as m')
          .innerJoin('people as p', 'p.id', 'm.user_id')
          .where('p.mobile', '=', mobile!)
          .where('m.org_id', '=', caller.orgId!)
          .select(['m.org_id', 'm.user_id'])
          .executeTakeFirstOrThrow(),
      )
      await storage.read((db) =>
        checkLimits({ db, caller, keyring, now: storage.now() } as Call, member, {
          requester: 'x',
          lifetime_s: 300,
          byRule: false,
        }),
      )
      return async (call) => {
        const id = `apr_${Math.random()}`
        await call.db
          .insertInto('approvals')
          .values({
            org_id: member.org_id,
            request_id: id,
            key_id: caller.keyId,
            asked_by: namedKeyOf(caller),
            requester: 'x',
            verified_as: 'x',
            action: 'x',
            subject_type: 'text',
            subject_digest: 'x',
            key_name: 'x',
            key_scopes: 'ask',
            key_influences: 0,
            by_rule: 0,
            org_slug: 'x',
            asked_via: 'api',
            use_within_s: 600,
            approver_mobile: mobile!,
            lines: '[]',
            rules: '[]',
            excluded: '[]',
            factors: '[]',
            requested_at: call.now,
            expires_at: '9999-01-01T00:00:00.000Z',
          })
          .execute()
        await call.db
          .insertInto('ballots')
          .values({
            ...member,
            request_id: id,
            mobile: mobile!,
            name: 'x',
            twin: 0,
            nonce: 'x',
            requested_at: call.now,
          })
          .execute()
        await call.audit(member.org_id, id)
        call.afterCommit(() => call.service.notifyApprover({ request_id: id, ...member }))
        return {} as ApprovalRecord
      }
    },
  },
}

const count = (of: Map<string, number>, who: string, by = 1): void =>
  void of.set(who, (of.get(who) ?? 0) + by)

/** Sends 500 requests to each person at once with twenty keys, which withdraw half of them. */
const storm = async (tally: Tally, people: number, handlers?: Create): Promise<void> => {
  const service = await startTestService({ dev: true, handlers })
  try {
    const { org, key, mobiles } = await createCrowd(service, people)
    const asking = [key]
    for (let i = 1; i < keys; i++) {
      const body = { name: `app ${i}`, org_id: org, scopes: ['ask'] }
      asking.push(dataOf(await service.call('POST', '/svc/v1/keys', { body })).key)
    }
    for (const mobile of mobiles) {
      const before = service.notified.length
      const notified = new Map<string, number>()
      const pending = new Map<string, number>()
      const ask = async (i: number): Promise<void> => {
        const who = asking[i % keys]!
        const answer = await service.call('POST', '/svc/v1/approvals', {
          key: who,
          body: { action: 'x', approvers: [mobile] },
        })
        if (answer.status === 200) {
          count(notified, who)
          count(pending, who)
          const path = `/svc/v1/approvals/${answer.body.data.request_id}/withdraw`
          if (i % 2 === 0 && (await service.call('POST', path, { key: who, body: {} })).status === 200)
            count(pending, who, -1)
        }
        const what = answer.status === 200 ? 'reached the phone' : answer.body.data.code
        tally.hit(what)
        if (answer.status !== 200 && !answer.headers['retry-after'])
          tally.wrong(`${what} without Retry-After`)
      }
      await Promise.all(Array.from({ length: requests }, (_, i) => ask(i)))
      tally.count += requests
      tally.wrong('too many requests', Math.max(0, service.notified.length - before - requestsPerApprover))
      for (const times of notified.values())
        tally.wrong('too many requests of a key', Math.max(0, times - requestsPerKey))
      for (const times of pending.values())
        tally.wrong('too many pending of a key', Math.max(0, times - pendingAtMost))
    }
  } finally {
    await service.close()
  }
}

export const torture = race(
  {
    name: 'Limits: 500 simultaneous requests for one approver, for ten approvers',
    must: '0 requests beyond 5 per key and 15 in all, 0 pending beyond 3 per key',
  },
  storm,
  { n: approvers, control: approvers, broken: lookFirst },
)
