import type { Call } from '../call/call.ts'
import type { Message } from '../call/message.ts'
import { ofMember, organizationRow } from '../call/tenant.ts'
import { activeDevices } from '../devices/active.ts'
import { hasPush } from '../devices/push-targets.ts'
import type { ApprovalRow } from './rows.ts'

/** The request that a push is about; undefined for any other push. */
export const pushedRequestId = ({ kind, text }: Pick<Message, 'kind' | 'text'>): string | undefined =>
  kind === 'approval' ? (JSON.parse(text) as { request_id: string }).request_id : undefined

/** Sends a push to every device of a person that accepts notifications, in this transaction. */
export const pushToDevices = async (
  call: Pick<Call, 'db' | 'send'> & { service: Pick<Call['service'], 'channels' | 'dev'> },
  row: ApprovalRow,
  user_id: number,
  { reminder = false } = {},
): Promise<void> => {
  if (!call.service.channels.has('push')) return
  const { org_id, request_id, expires_at } = row
  const devices = await activeDevices(call.db, call.service.dev)
    .where(hasPush())
    .where(ofMember({ org_id, user_id }, 'd'))
    .select('d.id')
    .execute()
  // A phone can be in several organizations, so the notification names its own.
  const { name: organization } = await organizationRow(call.db, org_id)
  const text = JSON.stringify({ request_id, organization, ...(reminder && { reminder }) })
  for (const { id } of devices)
    await call.send({ org_id, channel: 'push', kind: 'approval', to: String(id), text, expires_at })
}
