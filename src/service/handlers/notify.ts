import type { notify } from '../../contract/notify.ts'
import type { Handlers } from '../call.ts'

export const notifyHandlers: Handlers<typeof notify> = {}
