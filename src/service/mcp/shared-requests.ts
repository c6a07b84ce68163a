import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask, ApprovalGateway } from '../../contract/approval-gateway.ts'

const longestMs = 3_600_000

type Entry = { asked: Promise<ApprovalRecord>; calls: number; kept: boolean }

/** One call's part in a request. */
export type Share = {
  record: ApprovalRecord
  /** Whether another call waits for the same request. */
  isJoined(): boolean
  /** The request outlives its calls, because the caller has its id. */
  keep(): void
  /** The call no longer waits. */
  leave(): void
  /** As `leave`, and withdraws the request unless another call waits for it or its caller has the id. */
  withdraw(why: string): Promise<ApprovalRecord>
}

/**
 * Two calls are identical when the same caller asks the same approver for the same thing under the same name. How long
 * they wait is not compared.
 */
const identityOf = (
  caller: string,
  { action, subject, reason, approver_mobile, factors = [], requester }: Ask,
): string => JSON.stringify([caller, requester, action, subject, reason, approver_mobile, factors.toSorted()])

/**
 * The requests that are pending. An identical call gets the request that is there: it notifies nobody again, changes
 * nothing about it, and gets its decision. An agent that lost an answer finds it by repeating the call.
 */
export const createSharedRequests = () => {
  const entries = new Map<string, Entry>()
  let isStopped = false

  const forget = (identity: string, entry: Entry): void => {
    if (entries.get(identity) === entry) entries.delete(identity)
  }

  const open = (identity: string, ask: Ask, gateway: ApprovalGateway): Entry => {
    const entry: Entry = { asked: gateway.request(ask), calls: 0, kept: false }
    entries.set(identity, entry)
    const end = (): void => forget(identity, entry)
    void entry.asked
      // Of another server it may be no date at all.
      .then(({ expires_at }) => Date.parse(expires_at) - Date.now() || 0)
      .then((left) => setTimeout(end, Math.min(Math.max(left, 0), longestMs)).unref(), end)
    return entry
  }

  const shareOf = (
    identity: string,
    entry: Entry,
    record: ApprovalRecord,
    gateway: ApprovalGateway,
  ): Share => {
    const { request_id } = record
    const leave = (): void => {
      entry.calls -= 1
      if (entry.calls === 0 && !entry.kept) forget(identity, entry)
    }
    return {
      record,
      isJoined: () => entry.calls > 1,
      keep: () => {
        entry.kept = true
        leave()
      },
      leave,
      withdraw: async (why) => {
        leave()
        // Once it stops, no call waits any more: the first one withdraws the request, so that all get the same answer.
        const isLast = entry.calls === 0 || isStopped
        // A decision may have come first: what the request says afterwards counts.
        if (isLast && !entry.kept)
          await gateway.cancel(request_id, isStopped ? 'the service stopped' : why).catch(() => undefined)
        return gateway.status(request_id)
      },
    }
  }

  /** Joins the identical request that is pending, or makes one. */
  const ask = async (caller: string, wanted: Ask, gateway: ApprovalGateway): Promise<Share> => {
    const identity = identityOf(caller, wanted)
    const before = entries.get(identity)
    const entry = before ?? open(identity, wanted, gateway)
    entry.calls += 1
    try {
      const { request_id } = await entry.asked
      const record = before ? await gateway.status(request_id) : await entry.asked
      if (!before || record.status === 'pending') return shareOf(identity, entry, record, gateway)
    } catch (error) {
      forget(identity, entry)
      throw error
    }
    // Decided or expired since: that answer belongs to the earlier calls.
    entry.calls -= 1
    forget(identity, entry)
    return ask(caller, wanted, gateway)
  }

  return {
    ask,
    /** Call it before the calls are aborted: each then withdraws its request because the service stopped. */
    stop: (): void => void (isStopped = true),
  }
}

export type SharedRequests = ReturnType<typeof createSharedRequests>
