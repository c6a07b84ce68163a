import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../../core/env.ts'

export const clientNames = ['claude-code', 'cursor', 'vscode', 'codex', 'gemini'] as const
export type ClientName = (typeof clientNames)[number]

type Place = { env: Env; cwd: string }

/** Where a client reads its tool servers from, and in which form. docs/agents.md names the source of each. */
export type ClientFile = {
  title: string
  format: 'json' | 'toml'
  /** The member of the file with one entry for each server. */
  servers: string
  /** Whether an entry says that the client starts a process. */
  typed: boolean
  user(place: Place): string
  project(place: Place): string
}

const home = ({ env }: Place): string => env['HOME'] || homedir()

const vscodeUser = (place: Place): string => {
  if (process.platform === 'darwin')
    return join(home(place), 'Library', 'Application Support', 'Code', 'User')
  if (process.platform === 'win32' && place.env['APPDATA']) return join(place.env['APPDATA'], 'Code', 'User')
  return join(place.env['XDG_CONFIG_HOME'] || join(home(place), '.config'), 'Code', 'User')
}

export const clientFiles: Record<ClientName, ClientFile> = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    servers: 'mcpServers',
    typed: true,
    user: (place) => join(place.env['CLAUDE_CONFIG_DIR'] || home(place), '.claude.json'),
    project: ({ cwd }) => join(cwd, '.mcp.json'),
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    servers: 'mcpServers',
    typed: false,
    user: (place) => join(home(place), '.cursor', 'mcp.json'),
    project: ({ cwd }) => join(cwd, '.cursor', 'mcp.json'),
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    servers: 'servers',
    typed: true,
    user: (place) => join(vscodeUser(place), 'mcp.json'),
    project: ({ cwd }) => join(cwd, '.vscode', 'mcp.json'),
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    servers: 'mcp_servers',
    typed: false,
    user: (place) => join(place.env['CODEX_HOME'] || join(home(place), '.codex'), 'config.toml'),
    project: ({ cwd }) => join(cwd, '.codex', 'config.toml'),
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    servers: 'mcpServers',
    typed: false,
    user: (place) => join(home(place), '.gemini', 'settings.json'),
    project: ({ cwd }) => join(cwd, '.gemini', 'settings.json'),
  },
}
