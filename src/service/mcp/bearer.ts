import { sameSecret } from '../../core/ids.ts'
import type { Caller } from '../call.ts'
import { bearerCaller } from '../engine-asker.ts'
import { isOperator } from '../keys/scopes.ts'
import type { Authenticate } from '../keys.ts'

type Options = {
  /** MCP_AUTH_TOKEN: whoever has it can ask, in every organization. */
  token: string | undefined
  authenticate: Authenticate
}

/**
 * Tells whose bearer an `Authorization` header shows: that of the tool server, or a key that can ask. The operator's REST
 * key is neither: it and the bearer are two secrets. Undefined for everything else.
 */
export const createBearer =
  ({ token, authenticate }: Options) =>
  async (header: string): Promise<Caller | undefined> => {
    const shown = /^bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1]
    if (shown === undefined) return undefined
    if (token !== undefined && sameSecret(shown, token)) return bearerCaller
    const caller = await authenticate(shown)
    return caller && caller.scopes.has('ask') && !isOperator(caller) ? caller : undefined
  }
