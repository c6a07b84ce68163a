import type { ApprovalRecord } from '../../contract/approval.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import { isLoopbackHost } from '../../core/loopback.ts'

/** Whom svc asks through, and what else it needs to know of the other side. */
export type Backend = {
  gateway: ApprovalGateway
  /** As `gateway.wait`, but a lost connection is told at once and not waited out. */
  poll: ApprovalGateway['wait']
  /** The service's clock, milliseconds: this machine's may be an hour off. */
  now(): number
  /** Until the request lapses; infinite where nobody says. */
  secondsLeft(record: ApprovalRecord): number
  /** Scheme, host and port of the service, where its keys are. */
  origin: string
  /** A receipt names a request as the backend does; a tool that waits tells its request's id to nobody. */
  namesRequests: boolean
  /** On this machine: receipts of software keys count there. */
  local: boolean
  /** It asks through the tools of a tool server. */
  tools: boolean
  close(): Promise<void>
}

export type Wanted = {
  /**
   * `tools`: the tool server instead of the REST API. `service`: the REST API alone. Otherwise the REST API, or what else
   * is configured where the service has no approvals.
   */
  through?: 'tools' | 'service' | undefined
  /** Who asks, as the approver reads it. */
  requester?: string | undefined
  /** The request must outlive this run: a call of a tool that waits could not be resumed. */
  open?: boolean
  /** Seconds that the whole may take: a silent tool server is not waited for longer. */
  mostSeconds?: number | undefined
  /** Refuse, before anybody is rung, where the person does not see the action. */
  bound?: boolean
}

export const secondsLeft = (record: ApprovalRecord, now: number): number => {
  const [from, to] = [Date.parse(record.requested_at), Date.parse(record.expires_at)]
  return to > from ? (to - now) / 1000 : Infinity
}

export const placeOf = (url: string) => {
  const { origin } = new URL(url)
  return { origin, local: isLoopbackHost(new URL(url).hostname) }
}
