import type { ApprovalRecord } from '../../contract/approval.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import { isLoopbackHost } from '../../core/loopback.ts'

/** Where svc sends approval requests, and the properties of that service. */
export type Backend = {
  gateway: ApprovalGateway
  /** Like `gateway.wait`, but reports a lost connection immediately. */
  poll: ApprovalGateway['wait']
  /** The clock of the service, in milliseconds. The clock of this machine may be wrong. */
  now(): number
  /** Until the request expires; infinite if the deadline is unknown. */
  secondsLeft(record: ApprovalRecord): number
  /** Scheme, host and port of the service, where its keys are. */
  origin: string
  /** Receipts contain the request ids of this backend. A tool that waits does not return the id of its request. */
  namesRequests: boolean
  /** The service runs on this machine, where receipts of software keys are accepted. */
  local: boolean
  /** Requests go through a tool server. */
  tools: boolean
  close(): Promise<void>
}

export type Wanted = {
  /**
   * `tools`: the tool server instead of the REST API. `service`: only the REST API. Otherwise the REST API, or the configured
   * tool server if the service has no approvals.
   */
  through?: 'tools' | 'service' | undefined
  /** The requester, as the approver sees it. */
  requester?: string | undefined
  /** The request must outlive this run: a call of a tool that waits could not be resumed. */
  open?: boolean
  /** The longest time to wait for a silent tool server, in seconds. */
  mostSeconds?: number | undefined
}

export const secondsLeft = (record: ApprovalRecord, now: number): number => {
  const [from, to] = [Date.parse(record.requested_at), Date.parse(record.expires_at)]
  return to > from ? (to - now) / 1000 : Infinity
}

export const placeOf = (url: string) => {
  const { origin } = new URL(url)
  return { origin, local: isLoopbackHost(new URL(url).hostname) }
}
