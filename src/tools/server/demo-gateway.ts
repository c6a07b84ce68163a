import { setTimeout } from 'node:timers/promises'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import { newRequest } from '../../contract/new-request.ts'
import { randomToken } from '../../core/ids.ts'
import { notFound } from '../../core/refusal.ts'

const notice =
  'This is the built-in demo of svc: it notifies no one and never approves anything. ' +
  'For real approvals, set SVC_ASK_KEY (and SVC_BASE_URL), or SVC_MCP_URL.'

const lifetimeSeconds = 300
const mostRequests = 1000

/** A gateway that notifies nobody. Every request stays pending until it expires. */
export const createDemoGateway = (): ApprovalGateway => {
  const requests = new Map<string, ApprovalRecord>()

  const find = (request_id: string): ApprovalRecord => {
    const record = requests.get(request_id)
    if (!record) throw notFound('Request')
    if (record.status === 'pending' && record.expires_at <= new Date().toISOString())
      record.status = 'expired'
    return { ...record }
  }

  return {
    boundToAction: false,
    notice,
    request: async ({ factors = ['biometric'], requester = 'demo', ...ask }) => {
      const at = Date.now()
      const request_id = `demo_${randomToken(9)}`
      if (requests.size >= mostRequests) requests.delete(requests.keys().next().value!)
      const seconds = ask.lifetime_s ?? lifetimeSeconds
      requests.set(request_id, newRequest({ ...ask, factors, requester }, { request_id, at, seconds }))
      return find(request_id)
    },
    status: async (request_id) => find(request_id),
    wait: async (request_id, seconds, signal) => {
      const left = Date.parse(find(request_id).expires_at) - Date.now()
      const ms = Math.max(0, Math.min(seconds * 1000, left))
      await setTimeout(ms, undefined, signal && { signal }).catch(() => undefined)
      return find(request_id)
    },
    withdraw: async (request_id) => {
      find(request_id)
      const record = requests.get(request_id)!
      if (record.status === 'pending') Object.assign(record, { status: 'expired', detail: 'Withdrawn.' })
    },
  }
}
