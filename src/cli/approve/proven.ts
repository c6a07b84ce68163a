import { isLocalId } from '../../tools/client/mcp-gateway.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import type { Context } from '../context/context.ts'
import type { Backend } from './backend.ts'

/** `svc mcp` runs as long as its client. */
const most = 1_000

/** Checks the receipt of each request that a service reports as approved. Its word alone is no approval. */
export const createProven = (backend: Pick<Backend, 'origin' | 'local' | 'now'>, context: Context) => {
  const asks = new Map<string, Ask>()
  return {
    /** Remembers what a new request is about. */
    asked: (ask: Ask, record: ApprovalRecord): ApprovalRecord => {
      if (asks.size >= most) asks.delete(asks.keys().next().value!)
      asks.set(record.request_id, ask)
      return record
    },
    /** The same record. Throws if it is approved without a genuine receipt for this request. */
    checked: async (record: ApprovalRecord): Promise<ApprovalRecord> => {
      if (record.status !== 'approved') return record
      const { request_id } = record
      const { requireGenuine } = await import('./proof.ts')
      const about = { ask: asks.get(request_id), isNamed: !isLocalId(request_id) }
      await requireGenuine(record, about, backend, context)
      return record
    },
  }
}
