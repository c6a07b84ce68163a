import type { ApprovalRecord } from '../contract/approval.ts'
import type { ApprovalGateway } from '../contract/approval-gateway.ts'
import { isLoopbackHost } from '../core/loopback.ts'
import type { Use } from './proof.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * Where approvals are requested. The port is the gateway; its `wait` is one poll, which reports a lost connection at once.
 * A record that says `approved` has a genuine receipt, or `notice` says that none could be checked.
 */
export type Backend = ApprovalGateway & {
  /** Scheme, host and port of the service, where its keys are. */
  origin: string
  /** The service runs on this machine, where receipts of software keys are accepted. */
  local: boolean
  /** A tool server: it cannot use an approval up, and a tool that waits does not return the id of its request. */
  tools: boolean
  /** Of the surroundings. */
  flags: string
  organization: Surroundings['organization']
  /** The clock of the service, in milliseconds. The clock of this machine may be wrong. */
  now(): number
  /** Throws unless the receipt of an approval permits this use. Returns the id in it. */
  prove(record: ApprovalRecord, use: Use): Promise<string>
  close(): Promise<void>
}

/** Seconds until a request expires, by the clock of the service; infinite if the deadline is unknown. */
export const secondsLeft = (
  record: Pick<ApprovalRecord, 'requested_at' | 'expires_at'>,
  { now }: Pick<Backend, 'now'>,
): number => {
  const [from, to] = [Date.parse(record.requested_at), Date.parse(record.expires_at)]
  return to > from ? (to - now()) / 1000 : Infinity
}

export const placeOf = (url: string) => {
  const { origin, hostname } = new URL(url)
  return { origin, local: isLoopbackHost(hostname) }
}
