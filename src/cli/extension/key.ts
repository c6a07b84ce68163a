import { fieldsIn } from '../../client/answer-data.ts'
import { key } from '../../contract/key.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Extensions } from '../operation/operation-command.ts'

const mostShown = 10

const lineOf = (keys: { id: string; name: string; scopes: string[] }[]): string => {
  if (keys.length === 0) return 'No other key is revoked with it'
  const shown = keys.slice(0, mostShown).map(({ id, name, scopes }) => `${id} ${name} (${scopes.join(', ')})`)
  const rest = keys.length > mostShown ? [`and ${keys.length - mostShown} more`] : []
  const ends = keys.length === 1 ? '1 key is revoked with it' : `${keys.length} keys are revoked with it`
  return `${ends}: ${[...shown, ...rest].join('; ')}`
}

const revokedWith = async (id: unknown, context: Context): Promise<string | undefined> => {
  const client = await context.client()
  try {
    const { signal } = context.io
    const { created_keys } = fieldsIn(await client.call(key.getKey, { id: String(id) }, { signal }))
    return created_keys && lineOf(created_keys)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'no_such_route') return undefined
    throw error
  }
}

/** `svc key revoke`: the question lists the keys that are revoked with it. */
export const revocation: Extensions = new Map([
  [
    key.revokeKey,
    (command, context) =>
      void command.action(async () => {
        const { runOperation } = await import('../operation/run-operation.ts')
        await runOperation(key.revokeKey, { args: command.args, options: command.opts() }, context, {
          consequence: ({ id }) => revokedWith(id, context),
        })
      }),
  ],
])
