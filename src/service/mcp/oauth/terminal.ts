import type { Terminal } from '../../page/authorization.ts'
import { OAuthProblem } from './answer.ts'

export const isVisible = /^[\x20-\x7e]+$/

/** Which installation of svc asks. Throws an OAuthProblem. */
export const readTerminal = ({ installation, host }: Record<string, string | undefined>): Terminal => {
  if (installation === undefined || !/^[\w-]{22}$/.test(installation))
    throw new OAuthProblem('invalid_request', 'installation must be 22 characters of base64url')
  if (host === undefined || host.length > 60 || !isVisible.test(host))
    throw new OAuthProblem('invalid_request', 'host must have 1 to 60 printable characters')
  return { installation, host }
}
