import type { notify } from '../../contract/notify.ts'
import type { Handlers } from '../call/call.ts'
import { askByApp, askByEmail } from '../approvals/by-message.ts'
import { sendGlobal } from '../mobile/notification.ts'

export const notifyHandlers: Handlers<typeof notify> = {
  sendGlobalNotification: sendGlobal,
  sendAuthRequestByEmail: askByEmail,
  sendAppAuthNotification: askByApp,
}
