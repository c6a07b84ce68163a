import { sql } from 'kysely'
import { notFound } from '../../core/refusal.ts'
import { safeJson } from '../../core/safe-text.ts'
import { emergencyFor, wasTold } from '../approvals/broken-glass.ts'
import { readCurrent } from '../approvals/current.ts'
import { sweep } from '../approvals/expiry.ts'
import { poolOf, toLineRecords } from '../approvals/lines.ts'
import { whyNoReview } from '../approvals/review.ts'
import type { ApprovalRow } from '../approvals/rows.ts'
import { selectApprovals, toSubjectRecord, trusted } from '../approvals/record.ts'
import { originOf } from '../approvals/requester.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { ofMember } from '../call/tenant.ts'
import { isAdministrator } from '../devices/administrators.ts'
import type { Db } from '../storage/schema.ts'
import { readOwnGrants } from './grants.ts'
import { readPeople, requireAdmin } from './members.ts'
import { type DecidingDevice, outcomeOf, readDevices, readGrantOf } from './outcome.ts'

type DecidedRow = ApprovalRow & { device_id: number | null }

/** Requests with the device that ended them. */
const selectDecided = (db: Db, org_id: number) =>
  selectApprovals(db, { orgId: org_id })
    .leftJoin('ballots as d', (join) =>
      join.onRef('d.request_id', '=', 'a.request_id').onRef('d.user_id', '=', 'a.decided_by'),
    )
    .select('d.device_id')

/** The person whom a row of the history is about: who was looked for, or who ended it, or the first who was asked. */
const shownPersonOf = (row: ApprovalRow, user_id: number | undefined): number =>
  user_id ?? row.decided_by ?? poolOf(row)[0] ?? 0

/** As many as a person reads at once. */
const pageSize = 30

type Chosen = { org_id: number; user_id?: number | undefined; before?: string | undefined }

/**
 * Decided requests, newest first, and one more if there are older ones. Those after `before` go on where a page ended. Those of a
 * person are found by their ballots, which have the same times.
 */
const readPage = async ({ db }: Call, { org_id, user_id, before }: Chosen): Promise<DecidedRow[]> => {
  const table = user_id === undefined ? 'a' : 'b'
  const [at, id] = [sql.ref<string>(`${table}.requested_at`), sql.ref<number>(`${table}.id`)]
  const all = selectDecided(db, org_id).$if(user_id !== undefined, (some) =>
    some
      .innerJoin('ballots as b', 'b.request_id', 'a.request_id')
      .where(ofMember({ org_id, user_id: user_id! }, 'b')),
  )
  const last =
    before === undefined
      ? undefined
      : await all
          .select([at.as('last_at'), id.as('last_id')])
          .where('a.request_id', '=', before)
          .executeTakeFirstOrThrow(() => notFound('Request'))
  return all
    .where('a.status', '<>', 'pending')
    .$if(last !== undefined, (older) =>
      older.where(sql<boolean>`(${at}, ${id}) < (${last!.last_at}, ${last!.last_id})`),
    )
    .orderBy(at, 'desc')
    .orderBy(id, 'desc')
    .limit(pageSize + 1)
    .execute()
}

const toDecision = (row: DecidedRow, device: DecidingDevice | undefined, viewer: number) => ({
  ...outcomeOf(row, device, viewer),
  requester: row.requester,
  verified_as: row.verified_as,
  requested_at: row.requested_at,
  signed: row.attestation !== null,
})

const listPage = async (call: Call, chosen: Chosen, viewer: number) => {
  const rows = await readPage(call, chosen)
  const shown = rows.slice(0, pageSize).map((row) => Object.assign(row, trusted(row, call)))
  const devices = await readDevices(call.db, chosen.org_id, shown)
  return {
    shown,
    decisions: shown.map((row) => toDecision(row, devices.get(row.device_id ?? 0), viewer)),
    next: rows.length > pageSize ? shown.at(-1)!.request_id : null,
  }
}

export const listOwnDecisions: HandlerOf<'listOwnDecisions'> = {
  before: async ({ before }, { service, caller }) => {
    const { org_id, user_id } = requirePerson(caller)
    await sweep(service)
    return async (call) => {
      const { decisions, next } = await listPage(call, { org_id, user_id, before }, user_id)
      return { decisions, grants: before === undefined ? await readOwnGrants(call) : [], next }
    }
  },
}

export const listDecisions: HandlerOf<'listDecisions'> = {
  before: async ({ before, user_id }, { service }) => {
    await sweep(service)
    return async (call) => {
      const { org_id, user_id: viewer } = await requireAdmin(call)
      // Of a member, what that member did.
      const { shown, decisions, next } = await listPage(call, { org_id, user_id, before }, user_id ?? viewer)
      const people = shown.map((row) => shownPersonOf(row, user_id))
      const members = await readPeople(call, org_id, people)
      return {
        decisions: decisions.flatMap((decision, at) => {
          const member = members.get(people[at]!)
          return member ? [{ ...decision, member }] : []
        }),
        next,
      }
    }
  },
}

export const getDecision: HandlerOf<'getDecision'> = {
  before: async ({ request_id }, { service, caller }) => {
    const { org_id, user_id } = requirePerson(caller)
    // Its end is committed before anybody sees it.
    await readCurrent(service, request_id, { orgId: org_id })
    return async (call) => {
      const found = await selectDecided(call.db, org_id)
        .where('a.request_id', '=', request_id)
        .executeTakeFirstOrThrow(() => notFound('Approval request'))
      const row = { ...found, ...trusted(found, call) }
      const own = poolOf(row).includes(user_id)
      const mayRead = own || wasTold(row, user_id) || (await isAdministrator(call.db, { org_id, user_id }))
      if (!mayRead) throw notFound('Approval request')
      const devices = await readDevices(call.db, org_id, [row])
      const asked = shownPersonOf(row, own ? user_id : undefined)
      const member = (await readPeople(call, org_id, [asked])).get(asked)
      if (!member) throw notFound('Approval request')
      const { action, reason, expires_at, used_at, attestation, receipt_digest, cleared_at } = row
      return {
        ...toDecision(row, devices.get(row.device_id ?? 0), user_id),
        ...(await readGrantOf(call.db, row)),
        own,
        lines: toLineRecords(row),
        member,
        action,
        reason,
        ...(await emergencyFor(call.db, row)),
        ...(row.break_glass !== null && !whyNoReview(row, user_id, call) && { can_review: true as const }),
        expires_at,
        used_at,
        origin: originOf(row, []),
        subject: toSubjectRecord(row),
        receipt: attestation === null ? null : `${safeJson(JSON.parse(attestation), 2)}\n`,
        ...(receipt_digest !== null && { receipt_digest }),
        ...(cleared_at !== null && { cleared_at }),
      }
    }
  },
}
