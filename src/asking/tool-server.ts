import { createMcpGateway, isLocalId } from '../tools/client/mcp-gateway.ts'
import { isReceipt } from '../tools/client/tool-answer.ts'
import type { ToolClient } from '../tools/client/tool-client.ts'
import type { ApprovalRecord } from '../contract/approval.ts'
import { placeOf, type Backend } from './backend.ts'
import { createProver } from './proof.ts'
import type { Surroundings } from './surroundings.ts'

type Server = {
  url: string
  tools: ToolClient
  /** What an earlier run stored about a request. */
  recall(request_id: string): Partial<ApprovalRecord> | undefined
  close(): Promise<void>
}

export const createToolBackend = (
  { url, tools, recall, close }: Server,
  surroundings: Surroundings,
): Backend => {
  const { now, flags, organization } = surroundings
  const gateway = createMcpGateway({ tools, now: () => new Date(now()), recall })
  const place = { ...placeOf(url), now }
  const prover = createProver({ ...place, isNamed: (id) => !isLocalId(id) }, surroundings)
  let isUnproven = false

  /** Only receipts of svc can be checked. The specification does not show what other servers return. */
  const checked = async (asked: Promise<ApprovalRecord>): Promise<ApprovalRecord> => {
    isUnproven = false
    const record = await asked
    if (isReceipt(record.attestation)) return prover.checked(record)
    isUnproven = record.status === 'approved'
    return record
  }

  return {
    ...place,
    tools: true,
    flags,
    organization,
    get boundToAction() {
      return gateway.boundToAction
    },
    get notice() {
      if (gateway.notice !== undefined || !isUnproven) return gateway.notice
      return `Only the tool server at ${place.origin} says so: no receipt that can be verified proves the approval.`
    },
    request: async (ask) => prover.asked(ask, await checked(gateway.request(ask))),
    status: (id) => checked(gateway.status(id)),
    wait: (...args) => checked(gateway.wait(...args)),
    withdraw: (...args) => gateway.withdraw(...args),
    prove: prover.prove,
    close,
  }
}
