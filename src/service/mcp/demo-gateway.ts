import type { ApprovalRecord } from '../../contract/approval.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import { newRequest } from '../../contract/new-request.ts'
import { randomToken } from '../../core/ids.ts'
import { notFound } from '../../core/refusal.ts'

const notice =
  'This is the built-in demo of svc: it notifies nobody and never approves anything. ' +
  'For real approvals, set SVC_ASK_KEY (and SVC_BASE_URL), or SVC_MCP_URL.'

const lifetimeSeconds = 300
const mostKept = 1000

/** Asks nobody. Every request stays pending until it expires. */
export const createDemoGateway = (now: () => Date = () => new Date()): ApprovalGateway => {
  const requests = new Map<string, ApprovalRecord>()

  const find = (request_id: string): ApprovalRecord => {
    const record = requests.get(request_id)
    if (!record) throw notFound('Request')
    if (record.status === 'pending' && record.expires_at <= now().toISOString()) record.status = 'expired'
    return { ...record }
  }

  return {
    boundToAction: false,
    notice,
    request: async ({ factors = ['biometric'], requester = 'demo', ...ask }) => {
      const at = now().getTime()
      const request_id = `demo_${randomToken(9)}`
      if (requests.size >= mostKept) requests.delete(requests.keys().next().value!)
      const seconds = ask.lifetime_s ?? lifetimeSeconds
      requests.set(request_id, newRequest({ ...ask, factors, requester }, { request_id, at, seconds }))
      return find(request_id)
    },
    status: async (request_id) => find(request_id),
    wait: async (request_id, seconds, signal) => {
      const left = Date.parse(find(request_id).expires_at) - now().getTime()
      const ms = Math.max(0, Math.min(seconds * 1000, left))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        const stop = (): void => {
          clearTimeout(timer)
          resolve()
        }
        if (signal?.aborted) stop()
        else signal?.addEventListener('abort', stop, { once: true })
      })
      return find(request_id)
    },
    cancel: async (request_id) => {
      find(request_id)
      const record = requests.get(request_id)!
      if (record.status === 'pending') Object.assign(record, { status: 'expired', detail: 'Withdrawn.' })
    },
  }
}
