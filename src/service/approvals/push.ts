import type { Call } from '../call/call.ts'
import type { Message } from '../call/message.ts'
import { ofMember } from '../call/tenant.ts'
import { activeDevices } from '../devices/active.ts'
import type { ApprovalRow } from './record.ts'

/** The request that a push is about; undefined for any other push. */
export const pushedRequestId = ({ kind, text }: Pick<Message, 'kind' | 'text'>): string | undefined =>
  kind === 'approval' ? (JSON.parse(text) as { request_id: string }).request_id : undefined

/** Sends a push to every device of the approver that accepts notifications, in the transaction of the request. */
export const pushToDevices = async (call: Call, row: ApprovalRow): Promise<void> => {
  if (!call.canSend('push')) return
  const { org_id, request_id, expires_at } = row
  const devices = await activeDevices(call.db, call.dev)
    .innerJoin('push_subscriptions as p', 'p.device_id', 'd.id')
    .where(ofMember(row, 'd'))
    .select('d.id')
    .execute()
  const text = JSON.stringify({ request_id })
  for (const { id } of devices)
    await call.send({ org_id, channel: 'push', kind: 'approval', to: String(id), text, expires_at })
}
