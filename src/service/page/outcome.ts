import { isRefused } from '../../contract/approval-state.ts'
import { progressFor } from '../../contract/line-progress.ts'
import { notFound } from '../../core/refusal.ts'
import { readCurrent } from '../approvals/current.ts'
import { endedByReport, endedByRestore, keyEnded, tooLate } from '../approvals/expiry.ts'
import { readTerms } from '../approvals/grants.ts'
import { wrongTwice } from '../approvals/posted-decision.ts'
import { unexpected } from '../approvals/report.ts'
import { tooFewLeft } from '../approvals/shrunk-pools.ts'
import { findBallot } from '../approvals/ballots.ts'
import { poolOf, toLineRecords } from '../approvals/lines.ts'
import type { ApprovalRow } from '../approvals/rows.ts'
import { alteredInStore, selectApprovals, toSubjectRecord, trusted } from '../approvals/record.ts'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import type { RowData } from '../call/row-ids.ts'
import type { Db } from '../storage/schema.ts'

type Outcome = RowData<'getOwnRequest'>
export type DecidingDevice = NonNullable<Outcome['device']>

export const endingOf = (row: ApprovalRow): Outcome['ended_by'] => {
  if (row.status === 'pending') return null
  if (row.granted_by !== null) return 'grant'
  if (row.status === 'expired') {
    if (row.detail === tooLate) return 'time'
    if (row.detail === keyEnded) return 'key'
    if (row.detail === endedByReport) return 'report'
    const byService = [endedByRestore, alteredInStore, tooFewLeft]
    return byService.includes(row.detail ?? '') ? 'service' : 'requester'
  }
  if (row.detail?.startsWith(wrongTwice)) return 'number'
  return isRefused(row) ? 'factors' : 'person'
}

/** The devices that decided these requests, by id. */
export const readDevices = async (
  db: Db,
  org_id: number,
  rows: readonly { device_id: number | null }[],
): Promise<Map<number, DecidingDevice>> => {
  const ids = [...new Set(rows.flatMap(({ device_id }) => device_id ?? []))]
  if (ids.length === 0) return new Map()
  const devices = await db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .select(['id', 'name'])
    .execute()
  return new Map(devices.map((device) => [device.id, device]))
}

const refusedBy = (row: ApprovalRow): Outcome['refused'] =>
  (JSON.parse(row.ruling ?? '[]') as Outcome['refused']).filter(
    ({ policy, result }) => policy === 'required' && result !== 'PASS',
  )

/**
 * The names of those whose answers ended a request, but for the viewer; undefined if the viewer was the last of them, or if it was
 * one person, for somebody who was not asked.
 */
const endedBy = (row: ApprovalRow, viewer: number): string[] | undefined => {
  const { decided_by, status } = row
  if (decided_by === null || decided_by === viewer) return undefined
  const answered = toLineRecords(row)
    .flatMap(({ people }) => people)
    .filter(({ user_id, answer }) =>
      status === 'approved' ? answer === status : user_id === String(decided_by),
    )
  const names = new Map(answered.map(({ user_id, name }) => [user_id, name]))
  if (names.size === 1 && !poolOf(row).includes(viewer)) return undefined
  names.delete(String(viewer))
  return [...names.values()]
}

/** What one of several people answered; no field if they did not. */
const answerOf = (row: ApprovalRow, viewer: number): Pick<Outcome, 'answer'> => {
  const people = toLineRecords(row).flatMap((line) => line.people)
  const answer = people.find(({ user_id }) => user_id === String(viewer))?.answer ?? 'pending'
  return answer === 'pending' ? {} : { answer }
}

/** With which request this one was allowed earlier; no field if nobody allowed it, or that request is gone. */
export const readGrantOf = async (db: Db, row: ApprovalRow): Promise<Pick<Outcome, 'grant'>> => {
  const { org_id, granted_by, grant_use } = row
  if (granted_by === null) return {}
  const granting = await selectApprovals(db, { orgId: org_id })
    .where('a.request_id', '=', granted_by)
    .executeTakeFirst()
  const terms = granting && readTerms(granting)
  return terms ? { grant: { request_id: granted_by, use: grant_use!, uses: terms.uses } } : {}
}

/** What became of a request, for a person who was asked or an administrator. */
export const outcomeOf = (
  row: ApprovalRow,
  device: DecidingDevice | null = null,
  viewer: number,
): Outcome => {
  const by = endedBy(row, viewer)
  const ended_by = endingOf(row)
  return {
    request_id: row.request_id,
    headline: toSubjectRecord(row)?.summary ?? row.action,
    status: row.status,
    ended_by,
    ended_at: row.ended_at,
    ...(by !== undefined && { by, ...answerOf(row, viewer) }),
    device: by === undefined ? device : null,
    refused: ended_by === 'factors' ? refusedBy(row) : [],
    ...(row.note !== null && { note: row.note }),
    ...(row.status === 'denied' && row.detail?.endsWith(unexpected) && { reported: true as const }),
    detail: row.detail,
  }
}

/** The result of a request, for its approver only: after a lost answer, the page must not guess. */
export const getOwnRequest: HandlerOf<'getOwnRequest'> = {
  before: async ({ request_id }, { service, caller }) => {
    const { org_id, user_id } = requirePerson(caller)
    const row = trusted(await readCurrent(service, request_id, { orgId: org_id }), service)
    if (!poolOf(row).includes(user_id)) throw notFound('Approval request')
    const { ballot, devices, grant } = await service.storage.read(async (db) => {
      const ballot = await findBallot(db, row, user_id)
      return {
        ballot,
        devices: await readDevices(db, org_id, [ballot]),
        grant: await readGrantOf(db, row),
      }
    })
    const missed = row.status === 'pending' &&
      row.number !== null && { number_missed: ballot.number_tries > 0 }
    const answered = ballot.status !== 'pending' && { answer: ballot.status }
    return async () => ({
      ...outcomeOf(row, devices.get(ballot.device_id ?? 0), user_id),
      ...grant,
      ...missed,
      ...answered,
      progress: progressFor(String(user_id), toLineRecords(row)),
    })
  },
}
