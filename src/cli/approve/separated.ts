import { fieldsIn } from '../../client/answered.ts'
import type { Client } from '../../client/client.ts'
import { key } from '../../contract/key.ts'
import { influential, scopes as every } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { shellWord } from '../../core/shell-word.ts'
import { sameService } from '../program/command-line.ts'

/** What the key that asks can do; undefined where the service does not say. */
const readScopes = async (client: Client, context: Context): Promise<string[] | undefined> => {
  try {
    const { scopes } = fieldsIn(await client.call(key.whoAmI, {}, { signal: context.io.signal }))
    return Array.isArray(scopes) ? scopes.map(String) : undefined
  } catch (error) {
    // Another service of the contract has no such route; a receipt decides there.
    if (error instanceof SvcError && ['notFound', 'refused'].includes(error.exit)) return undefined
    throw error
  }
}

const scopesOfAsking = async (context: Context): Promise<string[] | undefined> => {
  const { askKey } = await context.settings()
  if (!askKey) return readScopes(await context.client(), context)
  const { withAskKey } = await import('../context/open-client.ts')
  return withAskKey(context, (client) => readScopes(client, context))
}

/**
 * Before anybody is notified: whether the key that asks can influence who approves, and so could answer its own question.
 * Such a key is refused. One with every scope, as all keys from before there were scopes have, is only warned of: then the
 * answer is what to warn with.
 */
export const checkSeparated = async (context: Context): Promise<string[] | undefined> => {
  const scopes = await scopesOfAsking(context)
  if (!scopes || !influential.some((scope) => scopes.includes(scope))) return undefined
  const { org } = await context.settings()
  const { globals } = context
  const create =
    org === undefined
      ? `svc key create --name ask --can ask${sameService(globals)}`
      : `svc key create --name ask --can ask --org ${shellWord(org.value)}${sameService(globals)}`
  const hint = `To ask with a key that can only ask: ${create}; then svc profile login --ask`
  const message = 'The key that asks can influence who approves'
  if (every.every((scope) => scopes.includes(scope)))
    return [`${message}, and a later release refuses it here`, `hint: ${hint}`]
  throw new SvcError('usage', 'not_separated', `${message} (${scopes.join(', ')}): nobody was asked`, {
    detail: 'Whoever has it could enroll a device for the approver, and answer in their place.',
    hint,
  })
}
