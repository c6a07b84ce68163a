import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask, ApprovalGateway } from '../../contract/approval-gateway.ts'

/** No request lives longer. */
const longestMs = 86_400_000

type Entry = { requested: Promise<ApprovalRecord>; calls: number; kept: boolean }

/**
 * Two calls are identical if the same caller requests the same thing of the same approver under the same name. How long they
 * wait is not compared.
 */
const identityOf = (
  caller: string,
  { action, subject, reason, approvers, factors, default_factors = [], requester }: Ask,
): string => {
  const asked = [factors?.toSorted(), default_factors.toSorted()]
  return JSON.stringify([caller, requester, action, subject, reason, approvers, asked])
}

/**
 * The pending requests. An identical call joins the pending request: it notifies nobody again, changes nothing, and gets
 * the same decision. An agent that lost an answer finds it by repeating the call. `outlived`: requests stay when the service
 * stops, because other nodes continue it.
 */
export const createSharedRequests = ({ outlived = false } = {}) => {
  const entries = new Map<string, Entry>()
  let isStopped = false

  const forget = (identity: string, entry: Entry): void => {
    if (entries.get(identity) === entry) entries.delete(identity)
  }

  const open = (identity: string, ask: Ask, gateway: ApprovalGateway): Entry => {
    const entry: Entry = { requested: gateway.request(ask), calls: 0, kept: false }
    entries.set(identity, entry)
    const end = (): void => forget(identity, entry)
    void entry.requested
      // Another server may answer something that is not a date.
      .then(({ expires_at }) => Date.parse(expires_at) - Date.now() || 0)
      .then((left) => setTimeout(end, Math.min(Math.max(left, 0), longestMs)).unref(), end)
    return entry
  }

  /** The part of one call in a request. */
  const shareOf = (identity: string, entry: Entry, record: ApprovalRecord, gateway: ApprovalGateway) => {
    const { request_id } = record
    /** The call no longer waits. */
    const leave = (): void => {
      entry.calls -= 1
      if (entry.calls === 0 && !entry.kept) forget(identity, entry)
    }
    return {
      record,
      /** Whether another call waits for the same request. */
      isJoined: () => entry.calls > 1,
      /** Keeps the request after its calls end, because the caller has its id. */
      keep: () => {
        entry.kept = true
        leave()
      },
      leave,
      /** As `leave`, and withdraws the request unless another call waits for it or the caller has its id. */
      withdraw: async (why: string): Promise<ApprovalRecord> => {
        leave()
        // When the service stops, the first call withdraws the request, so that all calls get the same answer.
        const isLast = entry.calls === 0 || isStopped
        // A decision may have been faster, so the status afterwards counts.
        if (isLast && !entry.kept && !(isStopped && outlived))
          await gateway.withdraw(request_id, isStopped ? 'the service stopped' : why).catch(() => undefined)
        return gateway.status(request_id)
      },
    }
  }

  /** Joins the identical pending request, or creates one. */
  const ask = async (
    caller: string,
    request: Ask,
    gateway: ApprovalGateway,
  ): Promise<ReturnType<typeof shareOf>> => {
    const identity = identityOf(caller, request)
    const before = entries.get(identity)
    const entry = before ?? open(identity, request, gateway)
    entry.calls += 1
    try {
      const { request_id } = await entry.requested
      const record = before ? await gateway.status(request_id) : await entry.requested
      if (!before || record.status === 'pending') return shareOf(identity, entry, record, gateway)
    } catch (error) {
      forget(identity, entry)
      throw error
    }
    // Decided or expired since: that answer belongs to the earlier calls.
    entry.calls -= 1
    forget(identity, entry)
    return ask(caller, request, gateway)
  }

  return {
    ask,
    /** To be called before the calls are aborted, so that each withdraws its request because the service stopped. */
    stop: (): void => void (isStopped = true),
  }
}

export type SharedRequests = ReturnType<typeof createSharedRequests>
