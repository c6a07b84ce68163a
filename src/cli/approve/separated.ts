import type { Client } from '../../client/client.ts'
import { key } from '../../contract/key.ts'
import { scopes as every, type Scope } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { sameService } from '../same-service.ts'

const influential: readonly Scope[] = ['devices', 'keys', 'people', 'rules']

/** What the key that asks can do; undefined where the service does not say. */
const readScopes = async (client: Client, context: Context): Promise<string[] | undefined> => {
  try {
    const { envelope } = await client.call(key.whoAmI, {}, { signal: context.io.signal })
    const { scopes } = (envelope.data ?? {}) as { scopes?: unknown }
    return Array.isArray(scopes) ? scopes.map(String) : undefined
  } catch (error) {
    // Another service of the contract has no such route; a receipt decides there.
    if (error instanceof SvcError && ['notFound', 'refused'].includes(error.exit)) return undefined
    throw error
  }
}

const scopesOfAsking = async (context: Context): Promise<string[] | undefined> => {
  const settings = await context.settings()
  if (!settings.askKey) return readScopes(await context.client(), context)
  const { openClient, withAskKeyOnly } = await import('../open-client.ts')
  const client = openClient(context.io, context.globals, withAskKeyOnly(settings, settings.askKey))
  try {
    return await readScopes(client, context)
  } finally {
    await client.close()
  }
}

/**
 * Before anybody is notified: whether the key that asks can influence who approves, and so could answer its own question.
 * Such a key is refused, but one with every scope, as all keys from before there were scopes have, is warned of. Answers
 * whether it was.
 */
export const warnUnseparated = async (context: Context): Promise<boolean> => {
  const scopes = await scopesOfAsking(context)
  if (!scopes?.some((scope) => influential.includes(scope as Scope))) return false
  const org = (await context.settings()).org?.value ?? '<org>'
  const create = `svc key create --name ask --can ask --org ${org}${sameService(context.globals)}`
  const message = 'The key that asks can influence who approves'
  if (!every.every((scope) => scopes.includes(scope)))
    throw new SvcError('usage', 'not_separated', `${message} (${scopes.join(', ')}): nobody was asked`, {
      detail: 'Whoever has it could enroll a device for the approver, and answer in their place.',
      hint: `Ask with a key that can only ask: ${create}, then svc profile login --ask`,
    })
  ;(await context.output()).warn(
    `${message}. A later release refuses it here. To ask with a key that can only ask: ${create}, then svc profile login --ask`,
  )
  return true
}
