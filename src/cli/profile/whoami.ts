import type { Client } from '../../client/client.ts'
import { SvcError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { defineCommand } from '../program/define-command.ts'
import type { Context } from '../context/context.ts'
import { readOwnKey, type OwnKey } from '../context/own-key.ts'

/** What the service reports about a key. A problem becomes a warning and the exit code, because the rest is known locally. */
const askService = async (
  context: Context,
  open: () => Client | Promise<Client>,
): Promise<OwnKey | undefined> => {
  try {
    const own = await readOwnKey(await open(), context.io.signal)
    if (!own) (await context.output()).warn('This service does not report which key it is')
    return own
  } catch (error) {
    if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
    const output = await context.output()
    output.warn(error.message)
    if (error.hint) output.warn(`hint: ${error.hint}`)
    context.exitCode = exitCode(error.exit)
    return undefined
  }
}

/** `svc whoami`: shows the profile, the address, the keys in use and what they can do. */
export const registerWhoami = defineCommand({
  examples: ['svc whoami --profile prod'],
  scope: 'any',
  action: async (_, context) => {
    const { profile, baseUrl } = await context.settings()
    const output = await context.output()
    const own = await askService(context, () => context.client())
    // It is the same service, which would fail in the same way.
    const isAway = context.exitCode === exitCode('unreachable')
    const { withAskKey } = await import('../context/open-client.ts')
    const ask = () => withAskKey(context, (client) => askService(context, () => client))
    const asking = isAway ? undefined : await ask()
    const data = {
      profile: profile.value,
      base_url: baseUrl.value,
      service_version: own?.service_version ?? null,
      key_id: own?.id ?? null,
      key_name: own?.name ?? null,
      kind: own?.kind ?? null,
      scopes: own?.scopes ?? null,
      owner_user_id: own?.owner_user_id ?? null,
      org_id: own?.organization?.id ?? null,
      org: own?.organization?.slug ?? null,
      expires_at: own?.expires_at ?? null,
      ask_key_id: asking?.id ?? null,
      ask_key_name: asking?.name ?? null,
      ask_key_scopes: asking?.scopes ?? null,
      ask_key_expires_at: asking?.expires_at ?? null,
    }
    await output.report('Key in use', data)
  },
})
