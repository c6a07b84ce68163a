import * as z from 'zod/mini'
import { chosen, line } from './field.ts'
import { operations } from './declaration.ts'

// Notifications on the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown

export const pageNotifications = operations({
  subscribePush: {
    route: 'POST /svc/v1/approver/push',
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
    route: 'DELETE /svc/v1/approver/push',
    effect: 'write',
    summary: 'Turn off notifications on this phone',
    message: 'Notifications off',
  },
  testPush: {
    route: 'POST /svc/v1/approver/push/test',
    summary: 'Send a test notification to the phones with this device; at most three in ten minutes',
    message: 'Test sent',
  },
})
