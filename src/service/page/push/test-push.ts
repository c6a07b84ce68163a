import { Refusal } from '../../../core/refusal.ts'
import type { HandlerOf } from '../../call/call.ts'
import { requirePerson } from '../../call/caller.ts'
import { organizationRow } from '../../call/tenant.ts'
import { readPushTargets } from '../../devices/push-targets.ts'
import { consumeOrRefuse } from '../../limits/rate-limit.ts'

const tests = { kind: 'push-test', atMost: 3, windowMs: 10 * 60_000 }

/** Sends the device of the caller a notification that says that it works. */
export const testPush: HandlerOf<'testPush'> = async (_, call) => {
  const { org_id, device_id } = requirePerson(call.caller)
  if ((await readPushTargets(call.db, device_id)).length === 0)
    throw new Refusal(409, 'notifications_off', 'Notifications are off on this device', {
      hint: 'Turn them on at the approver page',
    })
  await consumeOrRefuse(
    call,
    tests,
    { org_id, subject: `device:${device_id}` },
    {
      code: 'too_many_tests',
      what: 'Three tests were sent',
    },
  )
  const { name: organization } = await organizationRow(call.db, org_id)
  await call.send({
    org_id,
    channel: 'push',
    kind: 'test',
    to: String(device_id),
    text: JSON.stringify({ test: true, organization }),
  })
  await call.audit(org_id, `device:${device_id}`, ['notifications'])
  return undefined
}
