import { createToolClient } from '../../client/tool-client.ts'
import { usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { openTransport } from '../context/open-client.ts'
import type { LoginOptions } from './login.ts'
import type { ProfileFile } from '../context/profile-file.ts'
import { readNewKey, saveProfile } from './save.ts'
import { createSettings } from '../context/settings.ts'

/** Asks for the bearer of the tool server, tries it, and saves it when the server takes it: for that address alone. */
export const logInBearer = async (
  asked: string | undefined,
  { withKey = false, dryRun }: LoginOptions,
  context: Context,
): Promise<void> => {
  const { io } = context
  const globals = asked === undefined ? context.globals : { ...context.globals, profile: asked }
  const { profile, cacert, ...settings } = createSettings({ io, globals })
  const mcpUrl = settings.mcpUrl ?? settings.otherMcpUrl
  const name = profile.value
  if (!mcpUrl)
    throw usageError(
      `Profile "${name}" has no tool server`,
      `svc profile set ${shellQuote(name)} mcp_url=https://host.example/mcp`,
    )
  const url = mcpUrl.value
  const change = (file: ProfileFile, token?: string): void => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined
    const bearer = token !== undefined && { mcp_token: token, mcp_token_origin: new URL(url).origin }
    file.profiles[name] = { ...before, mcp_url: url, ...bearer }
    file.current ??= name
  }
  const message = `The bearer works at ${new URL(url).origin} and is saved in profile ${name}`
  if (dryRun) return saveProfile({ name, change, message, dryRun }, context)
  const token = await readNewKey(context, { url, profile: name, piped: withKey, noun: 'bearer' })
  const transport = openTransport(io, cacert?.value)
  const tools = createToolClient({ url, token, transport, name: 'svc', signal: io.signal })
  try {
    await tools.list()
  } finally {
    await tools.close()
    await transport.close()
  }
  await saveProfile({ name, change: (file) => change(file, token), message }, context)
}
