import { sql } from 'kysely'
import type { pageHistory } from '../../contract/page-history.ts'
import { notFound } from '../../core/refusal.ts'
import { safeJson } from '../../core/safe-text.ts'
import { readCurrent } from '../approvals/current.ts'
import { sweep } from '../approvals/expiry.ts'
import {
  type ApprovalRow,
  findApproval,
  selectApprovals,
  toSubjectRecord,
  trusted,
} from '../approvals/record.ts'
import { originOf } from '../approvals/requester.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { readPeople, requireAdmin } from './members.ts'
import { type DecidingDevice, outcomeOf, readDevices } from './outcome.ts'

/** As many as a person reads at once. */
const pageSize = 30

type Chosen = { org_id: number; user_id?: number | undefined; before?: string | undefined }

/** Decided requests, newest first, and one more if there are older ones. Those after `before` go on where a page ended. */
const readPage = async ({ db }: Call, { org_id, user_id, before }: Chosen): Promise<ApprovalRow[]> => {
  const ofPerson = selectApprovals(db, { orgId: org_id }).$if(user_id !== undefined, (some) =>
    some.where('a.user_id', '=', user_id!),
  )
  const last =
    before === undefined
      ? undefined
      : await ofPerson.where('a.request_id', '=', before).executeTakeFirstOrThrow(() => notFound('Request'))
  return ofPerson
    .where('a.status', '<>', 'pending')
    .$if(last !== undefined, (older) =>
      older.where(sql<boolean>`(a.requested_at, a.id) < (${last!.requested_at}, ${last!.id})`),
    )
    .orderBy('a.requested_at', 'desc')
    .orderBy('a.id', 'desc')
    .limit(pageSize + 1)
    .execute()
}

const toDecision = (row: ApprovalRow, device: DecidingDevice | undefined) => ({
  ...outcomeOf(row, device),
  requester: row.requester,
  verified_as: row.verified_as,
  requested_at: row.requested_at,
  signed: row.attestation !== null,
})

const listPage = async (call: Call, chosen: Chosen) => {
  const rows = await readPage(call, chosen)
  const shown = rows.slice(0, pageSize).map((row) => trusted(row, call))
  const devices = await readDevices(call.db, chosen.org_id, shown)
  return {
    shown,
    decisions: shown.map((row) => toDecision(row, devices.get(row.device_id ?? 0))),
    next: rows.length > pageSize ? shown.at(-1)!.request_id : null,
  }
}

export const listOwnDecisions: HandlerOf<typeof pageHistory.listOwnDecisions> = {
  before: async ({ before }, { service, caller }) => {
    const { org_id, user_id } = requirePerson(caller)
    await sweep(service)
    return async (call) => {
      const { decisions, next } = await listPage(call, { org_id, user_id, before })
      return { decisions, next }
    }
  },
}

export const listDecisions: HandlerOf<typeof pageHistory.listDecisions> = {
  before: async ({ before, user_id }, { service }) => {
    await sweep(service)
    return async (call) => {
      const { org_id } = await requireAdmin(call)
      const { shown, decisions, next } = await listPage(call, { org_id, user_id, before })
      const members = await readPeople(call, org_id, shown)
      return {
        decisions: decisions.flatMap((decision, at) => {
          const member = members.get(shown[at]!.user_id)
          return member ? [{ ...decision, member }] : []
        }),
        next,
      }
    }
  },
}

export const getDecision: HandlerOf<typeof pageHistory.getDecision> = {
  before: async ({ request_id }, { service, caller }) => {
    const { org_id, user_id } = requirePerson(caller)
    // Its end is committed before anybody sees it.
    await readCurrent(service, request_id, { orgId: org_id })
    return async (call) => {
      const row = trusted(await findApproval(call.db, request_id, { orgId: org_id }), call)
      if (row.user_id !== user_id && !(await isAdministrator(call.db, { org_id, user_id })))
        throw notFound('Approval request')
      const devices = await readDevices(call.db, org_id, [row])
      const member = (await readPeople(call, org_id, [row])).get(row.user_id)
      if (!member) throw notFound('Approval request')
      const { action, reason, expires_at, attestation, receipt_digest, cleared_at } = row
      return {
        ...toDecision(row, devices.get(row.device_id ?? 0)),
        own: row.user_id === user_id,
        member,
        action,
        reason,
        expires_at,
        origin: originOf(row, []),
        subject: toSubjectRecord(row),
        receipt: attestation === null ? null : `${safeJson(JSON.parse(attestation), 2)}\n`,
        ...(receipt_digest !== null && { receipt_digest }),
        ...(cleared_at !== null && { cleared_at }),
      }
    }
  },
}
