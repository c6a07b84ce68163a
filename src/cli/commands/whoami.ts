import type { Command } from 'commander'
import { key } from '../../contract/key.ts'
import { SvcError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import type { Context } from '../context.ts'

type Own = {
  id: string
  name: string
  kind: string
  expires_at: string | null
  organization: { id: number; slug: string; name: string } | null
}

const unknownHere = async (context: Context): Promise<undefined> => {
  const output = await context.output()
  output.warn('This service does not say whose key it is')
}

/** What the service says of the key; a problem is reported and decides the exit, since the rest is known here. */
const askService = async (context: Context): Promise<Own | undefined> => {
  try {
    const client = await context.client()
    const { envelope } = await client.call(key.whoAmI, {}, { signal: context.io.signal })
    const own = envelope.data as Partial<Own> | undefined
    return typeof own?.name === 'string' ? (own as Own) : await unknownHere(context)
  } catch (error) {
    if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
    if (error.exit === 'notFound') return unknownHere(context)
    const output = await context.output()
    output.warn(error.message)
    if (error.hint) output.warn(`hint: ${error.hint}`)
    context.exitCode = exitCode(error.exit)
    return undefined
  }
}

/** `svc whoami`: which profile, address and key are in use, and what the key reaches. */
export const registerWhoami = (command: Command, context: Context): void => {
  command
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  svc whoami --profile prod')
    .action(async () => {
      const { profile, baseUrl } = await context.settings()
      const output = await context.output()
      const own = await askService(context)
      const data = {
        profile: profile.value,
        base_url: baseUrl.value,
        key_id: own?.id ?? null,
        key_name: own?.name ?? null,
        kind: own?.kind ?? null,
        org_id: own?.organization?.id ?? null,
        org: own?.organization?.slug ?? null,
        expires_at: own?.expires_at ?? null,
      }
      await output.show({ status: 'success', message: 'Key in use', data })
    })
}
