import * as z from 'zod/mini'
import { chosen, line } from './field.ts'
import { operations } from './operation.ts'

// Notifications on the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown

const path = '/svc/v1/approver/push'

export const pageNotifications = operations({
  subscribePush: {
    method: 'POST',
    path,
    cli: 'approver push',
    session: true,
    summary: 'Turn on notifications on this device',
    message: 'Notifications on',
    input: z.strictObject({
      endpoint: chosen(line(1000), 'PushSubscription endpoint, https'),
      keys: chosen(
        z.strictObject({
          p256dh: chosen(line(200), 'Key of the subscription, base64url'),
          auth: chosen(line(100), 'Secret of the subscription, base64url', { secret: true }),
        }),
        'Keys of the subscription',
      ),
    }),
  },
  unsubscribePush: {
    method: 'DELETE',
    path,
    cli: 'approver push-off',
    session: true,
    effect: 'write',
    summary: 'Turn off notifications on this phone',
    message: 'Notifications off',
    input: z.strictObject({}),
  },
  testPush: {
    method: 'POST',
    path: `${path}/test`,
    cli: 'approver push-test',
    session: true,
    summary: 'Send a test notification to the phones with this device; at most three in ten minutes',
    message: 'Test sent',
    input: z.strictObject({}),
  },
})
