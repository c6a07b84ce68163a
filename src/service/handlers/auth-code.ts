import type { authCode } from '../../contract/auth-code.ts'
import type { Handlers } from '../call/call.ts'
import { createAuthCode, deleteAuthCode, listAuthCodes, updateAuthCode } from '../members/auth-codes.ts'

type Group = 'listAuthCodes' | 'createAuthCode' | 'updateAuthCode' | 'deleteAuthCode'

export const authCodeHandlers: Pick<Handlers<typeof authCode>, Group> = {
  listAuthCodes,
  createAuthCode,
  updateAuthCode,
  deleteAuthCode,
}
