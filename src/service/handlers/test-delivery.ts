import { email, type messageChannels } from '../../contract/records.ts'
import { invalid } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { readMessage } from '../delivery/messages.ts'
import { activeDevices } from '../devices/active.ts'
import { hasPush } from '../devices/push-targets.ts'

/** The device that a push goes to, and its organization. */
const findDevice = async (call: Call, to: string): Promise<{ to: string; org_id: number }> => {
  const device = /^[1-9]\d{0,14}$/.test(to)
    ? await activeDevices(call.db, call.service.dev)
        .where(hasPush())
        .where('d.id', '=', Number(to))
        .select('d.org_id')
        .executeTakeFirst()
    : undefined
  if (device) return { to, org_id: device.org_id }
  throw invalid(
    'to',
    'must be the id of a device with notifications turned on',
    'svc user devices list shows the ids; turn on notifications at the approver page',
  )
}

const recipients: Record<
  (typeof messageChannels)[number],
  (call: Call, to: string) => { to: string; org_id: number } | Promise<{ to: string; org_id: number }>
> = {
  push: findDevice,
  sms: (_, to) => ({ to: parsePhone(to, undefined, 'to').mobile, org_id: 0 }),
  email: (_, to) => {
    if (!email.safeParse(to).success) throw invalid('to', 'must be an e-mail address such as ada@example.com')
    return { to, org_id: 0 }
  },
}

export const testDelivery: HandlerOf<'testDelivery'> = async ({ channel, to }, call) => {
  const recipient = await recipients[channel](call, to)
  const message_id = await call.send({
    ...recipient,
    channel,
    kind: 'test',
    ...(channel === 'email' && { subject: 'Test message' }),
    text:
      channel === 'push'
        ? '{"test":true}'
        : `This is a test message from ${call.service.publicUrl}. No action is needed.`,
  })
  await call.audit(recipient.org_id, `message:${message_id}`, ['channel'])
  return readMessage(call, message_id)
}
