import type { Env } from '../../core/env.ts'
import { usageError } from '../../core/errors.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Setting, Settings } from '../context/settings.ts'

/** Codex gives up on a call after a minute; a person may need longer. */
export const codexSeconds = 600

export const mcpClients = ['claude', 'cursor', 'vscode', 'codex', 'gemini', 'generic'] as const
export type McpClient = (typeof mcpClients)[number]

/** The configuration to paste, without secrets, as data and text, and notes on where to paste it and what else to do. */
export type Snippet = { data: object; format: 'json' | 'toml'; notes: string[] }

type Fields = Record<string, string>
/** The reference with which a client reads a secret from elsewhere. */
type Secret = (name: string) => string

const explicit = (setting: Setting | undefined): string | undefined =>
  setting && setting.source !== 'profile' && setting.source !== 'default' ? setting.value : undefined

/** The variables that the child process cannot read from the profile. A saved profile also contains its secrets. */
const envOf = async (settings: Settings, env: Env, secret: Secret): Promise<Fields> => {
  const { profile, baseUrl, mcpUrl, org, defaultMobile, defaultFactors, requestFrom } = settings
  const saved = profile.source !== 'default'
  const fields: [string, string | undefined][] = [
    ['SVC_PROFILE', saved ? profile.value : undefined],
    ['SVC_CONFIG_DIR', saved ? env['SVC_CONFIG_DIR'] : undefined],
    ['SVC_BASE_URL', explicit(baseUrl)],
    ['SVC_MCP_URL', explicit(mcpUrl)],
    ['SVC_ORG', explicit(org)],
    ['SVC_DEFAULT_MOBILE', explicit(defaultMobile)],
    ['SVC_DEFAULT_FACTORS', explicit(defaultFactors)],
    ['SVC_REQUEST_FROM', explicit(requestFrom)],
  ]
  const throughTools = explicit(mcpUrl) !== undefined
  const elsewhere = throughTools || explicit(baseUrl) !== undefined
  if (env['MCP_AUTH_TOKEN'] || (throughTools && !isLoopbackHost(new URL(mcpUrl!.value).hostname)))
    fields.push(['MCP_AUTH_TOKEN', secret('MCP_AUTH_TOKEN')])
  // An agent should have a key that can only request approvals.
  if (env['SVC_API_KEY'] && !env['SVC_ASK_KEY']) fields.push(['SVC_API_KEY', secret('SVC_API_KEY')])
  else if (env['SVC_ASK_KEY'] || (!throughTools && (elsewhere || !saved)))
    fields.push(['SVC_ASK_KEY', secret('SVC_ASK_KEY')])
  return Object.fromEntries(fields.filter((field): field is [string, string] => field[1] !== undefined))
}

const secretsOf: Record<McpClient, { secret: Secret; note: string }> = {
  claude: {
    secret: (name) => `\${${name}}`,
    note: 'Claude Code takes ${…} from its environment; in Claude Desktop, put the secret there instead.',
  },
  cursor: { secret: (name) => `\${env:${name}}`, note: 'Cursor takes ${env:…} from its environment.' },
  vscode: {
    secret: (name) => `\${input:${name.toLowerCase().replaceAll('_', '-')}}`,
    note: 'VS Code asks for the secret once and saves it.',
  },
  codex: { secret: (name) => name, note: 'Codex takes it from its environment.' },
  gemini: { secret: (name) => `\${${name}}`, note: 'Gemini CLI takes ${…} from its environment.' },
  generic: { secret: (name) => `<your ${name}>`, note: 'Replace <…> with the secret.' },
}

const places: Record<McpClient, string> = {
  claude:
    'Claude Code: .mcp.json in the project. Claude Desktop: claude_desktop_config.json in ~/Library/Application Support/Claude (macOS) or %APPDATA%\\Claude (Windows); then restart it.',
  cursor: 'Cursor: ~/.cursor/mcp.json for all projects, or .cursor/mcp.json in one.',
  vscode: 'VS Code: .vscode/mcp.json in the project.',
  codex: 'Codex: ~/.codex/config.toml for all projects, or .codex/config.toml in one.',
  gemini: 'Gemini CLI: ~/.gemini/settings.json for all projects, or .gemini/settings.json in one.',
  generic: 'The MCP configuration of the client.',
}

const assemble = async (
  client: McpClient,
  entry: (secret: Secret) => Promise<object>,
  note: string,
): Promise<Snippet> => {
  const used = new Set<string>()
  const { secret, note: about } = secretsOf[client]
  const svc = await entry((name) => {
    used.add(name)
    return secret(name)
  })
  const inputs = [...used].map((name) => ({
    type: 'promptString',
    id: name.toLowerCase().replaceAll('_', '-'),
    description: name,
    password: true,
  }))
  const data =
    client === 'vscode'
      ? { servers: { svc }, inputs }
      : client === 'codex'
        ? { mcp_servers: { svc } }
        : { mcpServers: { svc } }
  return {
    data,
    format: client === 'codex' ? 'toml' : 'json',
    notes: [places[client], note, ...(used.size > 0 ? [`${[...used].join(', ')}: ${about}`] : [])],
  }
}

/** The configuration to start `svc mcp`. Its paths are absolute, because a client may have another PATH than the shell. */
export const childSnippet = (
  client: McpClient,
  settings: Settings,
  { program, env }: { program: readonly [string, ...string[]]; env: Env },
): Promise<Snippet> => {
  const [command, ...args] = program
  return assemble(
    client,
    async (secret) => {
      const secrets: string[] = []
      const fields = await envOf(settings, env, (name) => {
        secrets.push(name)
        return secret(name)
      })
      const started = { command, args: [...args, 'mcp'] }
      if (client !== 'codex')
        return { ...(client === 'vscode' && { type: 'stdio' }), ...started, env: fields }
      const plain = Object.fromEntries(Object.entries(fields).filter(([name]) => !secrets.includes(name)))
      return {
        ...started,
        tool_timeout_sec: codexSeconds,
        ...(secrets.length > 0 && { env_vars: secrets }),
        env: plain,
      }
    },
    'In a file that other people use, write "command": "svc", "args": ["mcp"]; svc must then be on their PATH.',
  )
}

/** The configuration to use the tool server over HTTP, without svc. */
export const httpSnippet = async (client: McpClient, settings: Settings, env: Env): Promise<Snippet> => {
  const { mcpUrl } = settings
  if (!mcpUrl)
    throw usageError(
      'The address of the tool server is missing',
      'SVC_MCP_URL=https://host.example/mcp, or svc profile set mcp_url=…',
    )
  const url = mcpUrl.value
  // A reference to a secret that is not set breaks the configuration. Without a bearer, the client asks the person.
  const hasBearer = Boolean(env['MCP_AUTH_TOKEN']) || (await settings.bearer(url)) !== undefined
  return assemble(
    client,
    async (secret) => {
      if (client === 'codex')
        return {
          url,
          tool_timeout_sec: codexSeconds,
          ...(hasBearer && { bearer_token_env_var: secret('MCP_AUTH_TOKEN') }),
        }
      const headers = hasBearer && { headers: { Authorization: `Bearer ${secret('MCP_AUTH_TOKEN')}` } }
      if (client === 'gemini') return { httpUrl: url, ...headers }
      return { ...(client === 'cursor' ? {} : { type: 'http' }), url, ...headers }
    },
    hasBearer
      ? 'The bearer is MCP_AUTH_TOKEN of the service, or an API key with the scope "ask".'
      : 'If the service requires a token, the client opens the approver page, where you allow it to ask for approvals. To use a bearer instead, set MCP_AUTH_TOKEN and run this again.',
  )
}
