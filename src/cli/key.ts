import type { Command } from 'commander'
import { key } from '../contract/key.ts'
import { SvcError } from '../core/errors.ts'
import type { Context } from './context/context.ts'
import { runOperation } from './operation/run-operation.ts'

type Key = { id: string; name: string; scopes: string[] }

const mostShown = 10

const lineOf = (keys: Key[]): string => {
  if (keys.length === 0) return 'No other key ends with it'
  const shown = keys.slice(0, mostShown).map(({ id, name, scopes }) => `${id} ${name} (${scopes.join(', ')})`)
  const rest = keys.length > mostShown ? [`and ${keys.length - mostShown} more`] : []
  const ends = keys.length === 1 ? '1 key ends with it' : `${keys.length} keys end with it`
  return `${ends}: ${[...shown, ...rest].join('; ')}`
}

/** `svc key revoke`: from the table, and the question names the keys that are revoked with it. */
export const registerRevoke = (group: Command, context: Context): void => {
  const command = group.commands.find((one) => one.name() === 'revoke')!
  command.action(() =>
    runOperation(key.revokeKey, { args: command.args, options: command.opts() }, context, {
      consequence: async ({ id }) => {
        const client = await context.client()
        try {
          const { envelope } = await client.call(key.getKey, { id }, { signal: context.io.signal })
          const { created_keys } = (envelope.data ?? {}) as { created_keys?: Key[] }
          return created_keys && lineOf(created_keys)
        } catch (error) {
          if (error instanceof SvcError && error.code === 'no_such_route') return undefined
          throw error
        }
      },
    }),
  )
}
