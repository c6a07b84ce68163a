import { influential, scopes as every } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readOwnKey, type OwnKey } from '../context/own-key.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { sameService } from '../program/command-line.ts'

const ownKey = async (context: Context): Promise<OwnKey | undefined> => {
  const { askKey } = await context.settings()
  const { signal } = context.io
  if (!askKey) return readOwnKey(await context.client(), signal)
  const { withAskKey } = await import('../context/open-client.ts')
  return withAskKey(context, (client) => readOwnKey(client, signal))
}

/**
 * Before anybody is notified: whether the key that asks can influence who approves, and so could answer its own question.
 * Such a key is refused. One with every scope, as all keys from before there were scopes have, is only warned of: then the
 * answer is what to warn with.
 */
export const checkSeparated = async (context: Context): Promise<string[] | undefined> => {
  // Of a service that does not say, the receipt decides.
  const { scopes = [] } = (await ownKey(context)) ?? {}
  if (!influential.some((scope) => scopes.includes(scope))) return undefined
  const { org } = await context.settings()
  const { globals } = context
  const create =
    org === undefined
      ? `svc key create --name ask --can ask${sameService(globals)}`
      : `svc key create --name ask --can ask --org ${shellQuote(org.value)}${sameService(globals)}`
  const hint = `To ask with a key that can only ask: ${create}; then svc profile login --ask`
  const message = 'The key that asks can influence who approves'
  if (every.every((scope) => scopes.includes(scope)))
    return [`${message}, and a later release refuses it here`, `hint: ${hint}`]
  throw new SvcError('usage', 'not_separated', `${message} (${scopes.join(', ')}): nobody was asked`, {
    detail: 'Whoever has it could enroll a device for the approver, and answer in their place.',
    hint,
  })
}
