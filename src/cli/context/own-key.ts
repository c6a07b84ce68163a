import { fieldsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'

/** The facts that a service returns about a key. */
export type OwnKey = Partial<Data<typeof key.whoAmI>>

/** Whether a third-party service lacks this operation, or answers it in another form. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof SvcError &&
  (error.exit === 'notFound' || error.exit === 'refused' || error.code === 'unexpected_answer')

/** The facts about the key of this client; undefined if the service does not return them. */
export const readOwnKey = async (
  client: Pick<Client, 'call'>,
  signal: AbortSignal,
): Promise<OwnKey | undefined> => {
  try {
    const { scopes, ...own } = fieldsIn(await client.call(key.whoAmI, {}, { signal }))
    if (typeof own.name !== 'string' && !Array.isArray(scopes)) return undefined
    return Array.isArray(scopes) ? { ...own, scopes } : own
  } catch (error) {
    if (isUnsupported(error)) return undefined
    throw error
  }
}
