import type { Call } from '../call/call.ts'
import type { Message } from '../call/message.ts'
import { activeDevices } from '../devices/active.ts'
import type { ApprovalRow } from './record.ts'

/** The request that a push is about; undefined for a push about something else. */
export const requestOf = ({ kind, text }: Pick<Message, 'kind' | 'text'>): string | undefined =>
  kind === 'approval' ? (JSON.parse(text) as { request_id: string }).request_id : undefined

/** One message a device of the approver that takes notifications, kept with the request itself. */
export const pushToDevices = async (call: Call, { org_id, user_id, request_id, expires_at }: ApprovalRow) => {
  if (!call.canSend('push')) return
  const devices = await activeDevices(call.db, call.dev)
    .innerJoin('push_subscriptions as p', 'p.device_id', 'd.id')
    .where('d.org_id', '=', org_id)
    .where('d.user_id', '=', user_id)
    .select('d.id')
    .execute()
  const about = {
    org_id,
    channel: 'push',
    kind: 'approval',
    text: JSON.stringify({ request_id }),
    expires_at,
  } as const
  for (const { id } of devices) await call.send({ ...about, to: String(id) })
}
