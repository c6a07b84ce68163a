import { Argument } from 'commander'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { readAskingDefaults, type AskingDefaults } from '../../contract/asking-defaults.ts'
import type { Backend } from '../../asking/backend.ts'
import { within } from '../../core/within.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { Context } from '../context/context.ts'
import { named, type Settings } from '../context/settings.ts'
import { resolveOrgNow } from '../context/organization.ts'
import { registerGate } from './gate/command.ts'
import { type ClientName, clientNames } from './client-files.ts'
import { type ClientOptions, installClient, uninstallClient } from './install.ts'
import { defineCommand, together } from '../program/define-command.ts'
import { fitted } from '../terminal/wrap.ts'

/** The gateway for the tools, and its description. */
type Chosen = { gateway: ApprovalGateway; about: string; close(): Promise<void> }

const nothing = async (): Promise<void> => undefined

/** Whether to use the tool server. The REST API is better if there is a key: it names the key to the approver. */
const usesToolServer = async (context: Context): Promise<boolean> => {
  const { mcpUrl, baseUrl, bearer, apiKey } = await context.settings()
  if (!mcpUrl) return false
  if (mcpUrl.source !== 'profile') return true
  const { env } = context.io
  if (env['SVC_API_KEY'] || env['SVC_ASK_KEY'] || context.globals.keyFile !== undefined) return false
  return (await bearer(mcpUrl.value)) !== undefined || (await apiKey(baseUrl.value)) === undefined
}

/** The tool server waits by itself, and each answer can change what is said about it. */
const byTools = (backend: Backend, { mcpUrl }: Settings): Chosen => ({
  gateway: backend,
  about: `requests approvals through the tool server at ${mcpUrl!.value}`,
  close: backend.close,
})

const checkMs = 5_000

/**
 * Throws if the service does not accept the bearer or the key: a client would show svc as connected while every call fails. It
 * is no error that the service cannot be reached yet.
 */
const requireAccepted = async (looking: Promise<unknown>, signal: AbortSignal): Promise<void> => {
  try {
    await within(looking, { ms: checkMs, signal, late: () => undefined })
  } catch (error) {
    if (error instanceof SvcError && error.code === 'unauthenticated') throw error
  }
}

/**
 * Chooses the tool server at SVC_MCP_URL, the REST API if there is a key, the tool server of the profile, or the demo, in
 * this order. Throws a usage error for an invalid address or secret, and if the bearer or the key is not accepted.
 */
const chooseGateway = async (context: Context): Promise<Chosen> => {
  const settings = await context.settings()
  const { baseUrl } = settings
  const { openBackend } = await import('../approve/open-backend.ts')
  if (await usesToolServer(context)) {
    const { withTools } = await import('../approve/tool-server.ts')
    await withTools(context, ({ tools }) => requireAccepted(tools.list(), context.io.signal))
    return byTools(await openBackend(context, { through: 'tools' }), settings)
  }
  if ((await settings.apiKey(baseUrl.value)) === undefined)
    return {
      gateway: (await import('../../tools/server/demo-gateway.ts')).createDemoGateway(),
      about: 'demo that never approves: no API key and no tool server is configured',
      close: nothing,
    }
  const { requestingKey } = await import('../approve/separation.ts')
  const { throughRestarts } = await import('../../asking/wait.ts')
  await requireAccepted(requestingKey(context), context.io.signal)
  const backend = await openBackend(context)
  if (backend.tools) return byTools(backend, settings)
  const { org } = settings
  /** In the organization of the profile. An operator key can reach several. */
  const gateway = throughRestarts(backend, async (ask) =>
    backend.request(org ? { ...ask, org_id: (await resolveOrgNow(org.value, context)).id } : ask),
  )
  return { gateway, about: `requests approvals through ${baseUrl.value}`, close: backend.close }
}

/** The defaults for fields that a tool call leaves out. Throws a usage error that names the invalid setting. */
const askingDefaults = ({ defaultMobile, defaultFactors, requestFrom }: Settings): AskingDefaults =>
  readAskingDefaults({
    mobile: named(defaultMobile, 'SVC_DEFAULT_MOBILE', 'default_mobile'),
    factors: named(defaultFactors, 'SVC_DEFAULT_FACTORS', 'default_factors'),
    label: named(requestFrom, 'SVC_REQUEST_FROM', 'request_from'),
  })

const serve = async (context: Context): Promise<void> => {
  const { io } = context
  const note = (text: string): void => io.stderr.write(`${fitted(`svc mcp: ${safeLine(text)}`, io.stderr)}\n`)
  // Reports a wrong environment before the protocol starts.
  const defaults = askingDefaults(await context.settings())
  const { gateway, about, close } = await chooseGateway(context)
  const { serveTools } = await import('../../tools/server/stdio.ts')
  note(about)
  if (gateway.notice !== undefined) note(gateway.notice)
  if (io.stdin.isTTY) note('waiting for a client on standard input. To configure one: svc mcp install --help')
  try {
    const report = (error: Error): void => note(`internal error: ${error.message}`)
    await serveTools({ gateway, defaults }, report, io.signal)
  } finally {
    await close()
  }
}

const client = {
  usage: '<client> [flags]',
  args: [new Argument('<client>').choices(clientNames)],
  options: {
    '--project': 'The file of the current folder instead of that of the user',
    '--dry-run': 'Show what would be done and write nothing',
  },
} as const

const install = defineCommand<ClientOptions, [ClientName]>({
  ...client,
  name: 'install',
  summary: 'Add svc mcp to the configuration of a client, with a key that can only ask',
  examples: ['svc mcp install claude-code'],
  scope: 'ask',
  action: installClient,
})

const uninstall = defineCommand<ClientOptions, [ClientName]>({
  ...client,
  name: 'uninstall',
  summary: 'Remove svc mcp from the configuration of a client',
  examples: ['svc mcp uninstall claude-code'],
  action: uninstallClient,
})

const itself = defineCommand({
  examples: ['SVC_ASK_KEY=… SVC_DEFAULT_MOBILE=+12025550101 svc mcp'],
  prints: [],
  action: (_, context) => serve(context),
})

/** `svc mcp`: serves the approval tools on standard input and output, for a client that starts it as a child process. */
export const registerMcp = together(itself, install, uninstall, registerGate)
