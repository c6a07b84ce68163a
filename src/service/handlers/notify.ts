import type { notify } from '../../contract/notify.ts'
import type { Handlers } from '../call/call.ts'
import { sendAppAuthNotification, sendAuthRequestByEmail } from '../approvals/by-message.ts'
import { sendGlobalNotification } from '../mobile/notification.ts'

export const notifyHandlers: Handlers<typeof notify> = {
  sendGlobalNotification,
  sendAuthRequestByEmail,
  sendAppAuthNotification,
}
