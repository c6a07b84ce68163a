import type { Settings } from '../profile/settings.ts'

export const mcpClients = ['claude', 'cursor', 'vscode', 'generic'] as const
export type McpClient = (typeof mcpClients)[number]

export type Snippet = { json: object; where: string }

type Env = Record<string, string>

/** What the child process needs: the addresses and defaults that hold here, and a place for the secret. */
const envOf = (settings: Settings, secret: (name: string) => string): Env => {
  const { baseUrl, mcpUrl, defaultMobile, defaultFactors, requestFrom, org } = settings
  const entries: [string, string | undefined][] = [
    ...(mcpUrl
      ? ([
          ['SVC_MCP_URL', mcpUrl.value],
          ['MCP_AUTH_TOKEN', secret('MCP_AUTH_TOKEN')],
        ] as [string, string][])
      : ([
          ['SVC_BASE_URL', baseUrl.value],
          ['SVC_API_KEY', secret('SVC_API_KEY')],
          ['SVC_ORG', org?.value],
        ] as [string, string][])),
    ['SVC_DEFAULT_MOBILE', defaultMobile?.value],
    ['SVC_DEFAULT_FACTORS', defaultFactors?.value],
    ['SVC_REQUEST_FROM', requestFrom?.value],
  ]
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

const placeholder = (name: string): string => `<your ${name}>`

const servers = (settings: Settings, secret: (name: string) => string, type = {}) => ({
  svc: { ...type, command: 'svc', args: ['mcp'], env: envOf(settings, secret) },
})

const vscode = (settings: Settings): object => {
  const inputs: object[] = []
  const secret = (name: string): string => {
    const id = name.toLowerCase().replaceAll('_', '-')
    inputs.push({ type: 'promptString', id, description: name, password: true })
    return `\${input:${id}}`
  }
  return { servers: servers(settings, secret, { type: 'stdio' }), inputs }
}

/** The configuration that makes a client start `svc mcp`, and the file where it belongs. No secret is in it. */
export const snippetFor = (client: McpClient, settings: Settings): Snippet => {
  const mcpServers = servers(settings, placeholder)
  switch (client) {
    case 'claude':
      return {
        json: { mcpServers },
        where:
          'Claude Desktop: claude_desktop_config.json in ~/Library/Application Support/Claude (macOS) or %APPDATA%\\Claude (Windows), then restart it. Claude Code: .mcp.json in the project.',
      }
    case 'cursor':
      return {
        json: { mcpServers: servers(settings, (name) => `\${env:${name}}`) },
        where:
          'Cursor: ~/.cursor/mcp.json for all projects, or .cursor/mcp.json in one. The secret is taken from its environment.',
      }
    case 'vscode':
      return {
        json: vscode(settings),
        where: 'VS Code: .vscode/mcp.json in the project. It asks for the secret once and keeps it.',
      }
    case 'generic':
      return {
        json: { mcpServers },
        where: 'Wherever the client keeps its MCP servers, or start `svc mcp` with this environment.',
      }
  }
}
