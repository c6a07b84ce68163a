import type { auth } from '../../contract/auth.ts'
import type { Handlers } from '../call/call.ts'
import { collect, startByPrompt } from '../verifications/prompt.ts'
import { prepareResults } from '../verifications/results.ts'
import { startByToken } from '../verifications/token.ts'

export const authHandlers: Handlers<typeof auth> = {
  generateAuthToken: startByToken,
  verifyUser: startByPrompt,
  submitAuthResults: { before: prepareResults },
  validateAuth: collect,
}
