import type { Separated } from '../../asking/separation.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import type { OwnKey } from '../context/own-key.ts'
import { sameService } from '../program/command-line.ts'

/** The facts about the key that requests approvals. */
export const requestingKey = async (context: Context): Promise<OwnKey | undefined> => {
  const { askKey } = await context.settings()
  const { signal } = context.io
  const { readOwnKey } = await import('../context/own-key.ts')
  if (!askKey) return readOwnKey(await context.client(), signal)
  const { withAskKey } = await import('../context/open-client.ts')
  return withAskKey(context, (client) => readOwnKey(client, signal))
}

/** The requesting key of this run must not be able to influence who approves. */
export const separated = async (context: Context): Promise<Separated> => {
  const { org } = await context.settings()
  // The key that asks cannot create another.
  const { keyFile: _, ...others } = context.globals
  const inOrg = org === undefined ? '' : ` --org ${shellQuote(org.value)}`
  return {
    scopes: async () => (await requestingKey(context))?.scopes,
    hint: `To use a key that can only request approvals: svc key create --name ask --can ask${inOrg}${sameService(others)}; then svc profile login --ask`,
  }
}
