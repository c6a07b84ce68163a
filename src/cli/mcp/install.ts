import { hostname } from 'node:os'
import { fieldsIn } from '../../client/answer-data.ts'
import { key } from '../../contract/key.ts'
import { usageError } from '../../core/errors.ts'
import { inWholeSeconds } from '../../core/iso-time.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { movedConfig, ownProgram } from '../context/own-program.ts'
import {
  readForeignText,
  readForeignConfig,
  withValue,
  writeForeignConfig,
} from '../context/foreign-config.ts'
import type { Context } from '../context/context.ts'
import { readOwnKey } from '../context/own-key.ts'
import { createStore } from '../context/profile-store.ts'
import type { Action } from '../program/define-command.ts'
import { type ClientFile, clientFiles, type ClientName } from './client-files.ts'

export type ClientOptions = { project?: boolean; dryRun?: boolean }
type Change = Action<ClientOptions, [ClientName]>

type Entry = { type?: 'stdio'; command: string; args: string[]; env: Record<string, string> }

const serverName = 'svc'
/** Codex gives up on a call after a minute; a person may need longer. */
const codexSeconds = 600

/** The name of the profile that the client will use. Its file stores the key, so no other file needs a secret. */
const profileFor = async (context: Context): Promise<string> => {
  const { io } = context
  const { profile, baseUrl } = await context.settings()
  const { profiles } = createStore(io).read()
  if (Object.hasOwn(profiles, profile.value)) return profile.value
  throw usageError(
    `Profile "${profile.value}" does not exist, and the client would not get the key from this shell`,
    `svc profile login ${shellQuote(profile.value)} --base-url ${shellQuote(baseUrl.value)}`,
  )
}

/** Makes sure that the profile has a key that can only ask; creates and saves one if necessary. Says what it did. */
const prepareKey = async (
  client: ClientName,
  name: string,
  context: Context,
  dryRun: boolean,
): Promise<string> => {
  const { io } = context
  const store = createStore(io)
  const profile = store.read().profiles[name]!
  if (profile.ask_key !== undefined || profile.ask_credential_command !== undefined) return 'reused'
  if (profile.mcp_token !== undefined) return 'bearer of the tool server'
  const api = await context.client()
  const own = await readOwnKey(api, io.signal)
  if (own?.scopes?.every((scope) => scope === 'ask')) return 'reused'
  if (dryRun) return 'would be created'
  const org_id = own?.org_id ?? undefined
  const named = `${client} on ${hostname().replace(/[^A-Za-z0-9.-]/g, '') || 'this machine'}`.slice(0, 40)
  const made = await api.call(
    key.createKey,
    {
      name: `${named} ${inWholeSeconds(io.now().toISOString())}`,
      scopes: ['ask'],
      ...(org_id !== undefined && { org_id }),
    },
    { signal: io.signal },
  )
  const { key: secret } = fieldsIn(made)
  if (secret === undefined)
    throw usageError('The service returned no key', 'svc profile login --ask saves one that you have')
  const { baseUrl } = await context.settings()
  await store.update(({ profiles }) => {
    if (profiles[name])
      Object.assign(profiles[name], { ask_key: secret, ask_key_origin: new URL(baseUrl.value).origin })
  })
  return 'created'
}

const entryFor = (file: ClientFile, name: string, { io }: Context): Entry => {
  const [command, script] = ownProgram()
  return {
    ...(file.typed && { type: 'stdio' as const }),
    command,
    args: [script, 'mcp'],
    env: { SVC_PROFILE: name, ...movedConfig(io) },
  }
}

/** The file with the entry, or without it. Undefined if nothing changes. */
const edited = async (file: ClientFile, path: string, entry: Entry | undefined) => {
  if (file.format === 'toml') {
    const config = { path, text: readForeignText(path) }
    const table = entry && { ...entry, tool_timeout_sec: codexSeconds }
    const { withTable } = await import('./toml-table.ts')
    const text = withTable(path, config.text ?? '', [file.servers, serverName], table)
    return { config, text: text === (config.text ?? '') ? undefined : text }
  }
  const config = readForeignConfig(path)
  const at = [file.servers, serverName]
  config.requireObject([file.servers])
  if (JSON.stringify(config.at(at)) === JSON.stringify(entry)) return { config, text: undefined }
  return { config, text: withValue(config.textOr({}), at, entry) }
}

/** Starts the tools and calls one. If the service itself cannot be used, its error says more than that of the tools. */
const checkTools = async (entry: Entry, context: Context): Promise<string[]> => {
  const { checkChildTools } = await import('../../tools/client/child-tools.ts')
  try {
    return await checkChildTools(entry, context.io.signal)
  } catch (error) {
    const { requestingKey } = await import('../approve/separation.ts')
    await requestingKey(context)
    throw error
  }
}

export const installClient: Change = async ({ args: [client], options }, context) => {
  const { project = false, dryRun = false } = options
  const file = clientFiles[client]
  const path = project ? file.project(context.io) : file.user(context.io)
  const profile = await profileFor(context)
  const entry = entryFor(file, profile, context)
  // Before anything is created: a damaged file is refused.
  const { config, text } = await edited(file, path, entry)
  const output = await context.output()
  const state = await prepareKey(client, profile, context, dryRun)
  const data = { client, file: path, profile, key: state, command: [entry.command, ...entry.args].join(' ') }
  if (dryRun) return output.reportDryRun('Nothing was written', data)
  const tools = await checkTools(entry, context)
  if (text !== undefined) {
    writeForeignConfig(config, text, project ? 0o644 : 0o600)
    context.changed = true
  }
  await output.report(text === undefined ? 'Already installed, and it works' : 'Installed, and it works', {
    ...data,
    tools,
  })
  if (text !== undefined) output.warn(`Restart ${file.title}, or reload its tool servers`)
}

export const uninstallClient: Change = async ({ args: [client], options }, context) => {
  const { project = false, dryRun = false } = options
  const file = clientFiles[client]
  const path = project ? file.project(context.io) : file.user(context.io)
  const output = await context.output()
  const { config, text } = await edited(file, path, undefined)
  const data = { client, file: path }
  if (text === undefined) {
    await output.report('Not installed', data)
    return output.note('svc mcp is not in this file. Nothing was changed.')
  }
  if (dryRun) return output.reportDryRun('Nothing was written', data)
  writeForeignConfig(config, text, 0o600)
  context.changed = true
  await output.report('Uninstalled; the key stays in the profile', data)
}
