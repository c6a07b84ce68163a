import type { auth } from '../../contract/auth.ts'
import type { Handlers } from '../call/call.ts'
import { validateAuth, verifyUser } from '../verifications/prompt.ts'
import { prepareResults } from '../verifications/results.ts'
import { generateAuthToken } from '../verifications/token.ts'

export const authHandlers: Handlers<typeof auth> = {
  generateAuthToken,
  verifyUser,
  submitAuthResults: { before: prepareResults },
  validateAuth,
}
