import type { notify } from '../../contract/notify.ts'
import type { Handlers } from '../call.ts'
import { askByApp, askByEmail } from '../notifications/auth-request.ts'
import { sendGlobal } from '../notifications/global.ts'

export const notifyHandlers: Handlers<typeof notify> = {
  sendGlobalNotification: sendGlobal,
  sendAuthRequestByEmail: askByEmail,
  sendAppAuthNotification: askByApp,
}
