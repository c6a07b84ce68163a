import { influential, scopes as every } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
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

/**
 * Checks, before anybody is notified, whether the requesting key can influence who approves, and so could approve its own
 * request. Throws for such a key. For a key with every scope, as all old keys have, it returns a warning instead.
 */
export const checkSeparated = async (context: Context): Promise<string[] | undefined> => {
  // If the service does not report the scopes, the receipt decides.
  const { scopes = [] } = (await requestingKey(context)) ?? {}
  if (!influential.some((scope) => scopes.includes(scope))) return undefined
  const { org } = await context.settings()
  const hint = `To use a key that can only request approvals: svc key create --name ask --can ask${org === undefined ? '' : ` --org ${shellQuote(org.value)}`}${sameService(context.globals)}; then svc profile login --ask`
  const message = 'The requesting key can influence who approves'
  if (every.every((scope) => scopes.includes(scope)))
    return [`${message}; a later release will refuse it`, `hint: ${hint}`]
  throw new SvcError('usage', 'not_separated', `${message} (${scopes.join(', ')}): no request was sent`, {
    detail: 'Anyone who has it could enroll a device for the approver and approve their own request.',
    hint,
  })
}
