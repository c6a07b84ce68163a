import { fieldsIn } from '../../client/answered.ts'
import type { Client } from '../../client/client.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'

/** What a service says of a key. */
export type OwnKey = Partial<Data<typeof key.whoAmI>>

/** Another service of the contract may not have what was asked, or answer it otherwise. */
export const isUnsaid = (error: unknown): boolean =>
  error instanceof SvcError &&
  (error.exit === 'notFound' || error.exit === 'refused' || error.code === 'unexpected_answer')

/** What the service says of the key of this client; undefined where it does not say. */
export const readOwnKey = async (
  client: Pick<Client, 'call'>,
  signal: AbortSignal,
): Promise<OwnKey | undefined> => {
  try {
    const { scopes, ...own } = fieldsIn(await client.call(key.whoAmI, {}, { signal }))
    if (typeof own.name !== 'string' && !Array.isArray(scopes)) return undefined
    return Array.isArray(scopes) ? { ...own, scopes } : own
  } catch (error) {
    if (isUnsaid(error)) return undefined
    throw error
  }
}
