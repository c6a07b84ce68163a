import { influential } from '../contract/scopes.ts'
import { SvcError } from '../core/errors.ts'

/** The scopes with which a key can influence who approves, and so could approve its own request. */
export const influenceOf = (scopes: readonly string[] = []): string[] =>
  influential.filter((scope) => scopes.includes(scope))

export type Separated = {
  /** The scopes of the requesting key. If the service does not report them, the receipt decides. */
  scopes?(): Promise<readonly string[] | undefined>
  /** How to get a key that can only ask. */
  hint?: string | undefined
}

/** Throws, before anybody is notified, if the requesting key can influence who approves. */
export const requireSeparated = async ({ scopes, hint }: Separated): Promise<void> => {
  const found = influenceOf(await scopes?.())
  if (found.length === 0) return
  const message = `The requesting key can influence who approves (${found.join(', ')}): no request was sent`
  throw new SvcError('usage', 'not_separated', message, {
    detail: 'Anyone who has it could enroll a device for the approver and approve their own request.',
    hint,
  })
}
