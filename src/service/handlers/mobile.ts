import type { mobile } from '../../contract/mobile.ts'
import type { Handlers } from '../call.ts'
import { recordByToken } from '../verifications/token.ts'

export const mobileHandlers: Handlers<typeof mobile> = {
  saveFaceauthSuccess: recordByToken,
}
