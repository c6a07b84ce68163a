import type { approver } from '../../contract/approver.ts'
import { sha256 } from '../../core/ids.ts'
import { conditionsOf } from '../../rules/conditions.ts'
import type { Factor } from '../../rules/verdict.ts'
import { inboxName, pause, readThroughOutage } from '../approvals/decision-waiter.ts'
import { toSubjectRecord, type ApprovalRow, encodedContexts, selectApprovals } from '../approvals/record.ts'
import type { HandlerOf, Outside } from '../call/call.ts'
import { type Person, requirePerson, sessionOver } from '../call/caller.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import type { Member } from '../call/tenant.ts'
import { withRequested } from '../policy/rules.ts'
import { isSessionOpen } from './session.ts'
import { readSurroundings } from './surroundings.ts'

type Inbox = RowData<typeof approver.listInbox>

const readPending = ({ storage }: Service, { org_id, user_id }: Member): Promise<ApprovalRow[]> =>
  storage.read((db) =>
    selectApprovals(db, { orgId: org_id })
      .where('a.user_id', '=', user_id)
      .where('a.status', '=', 'pending')
      .where('a.format', '=', 2)
      .where('a.expires_at', '>', storage.now())
      .orderBy('a.id')
      .execute(),
  )

type Conditions = Inbox['requests'][number]['conditions']

/** What an approval of each request is checked against, as of now. */
const readConditions = async (
  rows: readonly ApprovalRow[],
  { org_id, user_id, device_id }: Person & { org_id: number },
  { service, ip }: Outside,
): Promise<Conditions[]> => {
  if (rows.length === 0) return []
  const rules = await service.rulesFor(org_id, user_id)
  const [at, address] = [service.storage.now(), ip?.()]
  const evidence = {
    at,
    user_id,
    ...(address !== undefined && { ip: address }),
    device: { id: device_id, registered_to: user_id, revoked: false },
    biometric: { user_verified: true },
  }
  return rows.map((row) => conditionsOf(withRequested(rules, JSON.parse(row.factors) as Factor[]), evidence))
}

const toPending = (row: ApprovalRow, now: string, conditions: Conditions): Inbox['requests'][number] => ({
  request_id: row.request_id,
  action: row.action,
  reason: row.reason,
  requester: row.requester,
  verified_as: row.verified_as,
  subject: toSubjectRecord(row),
  factors: JSON.parse(row.factors) as Inbox['requests'][number]['factors'],
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  expires_in_ms: Date.parse(row.expires_at) - Date.parse(now),
  number_required: row.number !== null,
  contexts: encodedContexts(row),
  conditions,
})

/** Returns the pending requests once they differ from `seen`, or after `wait_s`. Fails with 401 once the session has ended. */
const waitForInbox = async (
  { wait_s = 0, seen }: RowInput<typeof approver.listInbox>,
  outside: Outside,
): Promise<Inbox> => {
  const { service, caller, signal: createSignal } = outside
  const { storage, waiter } = service
  const person = requirePerson(caller)
  const signal = createSignal?.()
  const until = performance.now() + wait_s * 1000
  const isOver = (): boolean => performance.now() >= until || waiter.stopped || signal?.aborted === true
  const read = async () => {
    const rows = await readPending(service, person)
    const around = await storage.read((db) => readSurroundings(db, person))
    if (!(await isSessionOpen(service, person))) throw sessionOver()
    return { rows, around }
  }
  let isWaiting = false
  for (;;) {
    // Listen before reading: a change between the two wakes this listener.
    const listening = waiter.listen(inboxName(person))
    try {
      // A wait does not begin during an outage.
      const { rows, around } = isWaiting ? await readThroughOutage(read, isOver, signal) : await read()
      isWaiting = true
      const mark = sha256([around, ...rows.map((row) => row.request_id)].join(' ')).slice(0, 32)
      const now = storage.now()
      const left = until - performance.now()
      if (mark !== seen || left <= 0 || waiter.stopped || signal?.aborted) {
        const conditions = await readConditions(rows, person, outside)
        return { mark, requests: rows.map((row, i) => toPending(row, now, conditions[i]!)) }
      }
      const lives = rows.map((row) => Date.parse(row.expires_at) - Date.parse(now))
      await pause(listening.woken, Math.max(1, Math.min(left, ...lives)), signal)
    } finally {
      listening.close()
    }
  }
}

export const listInbox: HandlerOf<typeof approver.listInbox> = {
  before: async (input, outside) => {
    const inbox = await waitForInbox(input, outside)
    return async () => inbox
  },
}
