import { writeFileSync } from 'node:fs'
import type { HostName } from '../../src/cli/hook/host.ts'

type RealHost = {
  args(url: string): string[]
  env(url: string): Record<string, string>
  /** Settings without which the host does not start. */
  settings?: object
  /** The same with a tool server, and the file that describes it. */
  withServer?(name: string, command: string[], file: string): string[]
  /** The file with which a project sets a variable for its hooks. */
  variable?(name: string, value: string): [file: string, text: string]
}

/** How to start each host with a model at an address. */
export const real: Partial<Record<HostName, RealHost>> = {
  claude: {
    args: () => ['-p', 'go', '--allowedTools', 'Bash,Skill,Agent', '--model', 'claude-sonnet-4-5'],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'x',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    withServer: (name, [command, ...args], file) => {
      writeFileSync(file, JSON.stringify({ mcpServers: { [name]: { command, args } } }))
      return ['--mcp-config', file, '--strict-mcp-config', '--allowedTools', `Bash,mcp__${name}`]
    },
    variable: (name, value) => ['.claude/settings.local.json', JSON.stringify({ env: { [name]: value } })],
  },
  codex: {
    args: (url) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      // A person types /hooks instead.
      '--dangerously-bypass-hook-trust',
      '-c',
      `model_providers.test={name="test",base_url="${url}/v1",wire_api="responses"}`,
      '-c',
      'model_provider="test"',
      '-m',
      'gpt-5',
      'go',
    ],
    env: () => ({}),
    withServer: (name, [command, ...args]) => [
      '-c',
      // Without "required", the first calls can be made before the server has started.
      `mcp_servers.${name}={command=${JSON.stringify(command)},args=${JSON.stringify(args)},required=true,startup_timeout_sec=120}`,
    ],
  },
  copilot: {
    args: () => ['-p', 'go', '--allow-all-tools', '--allow-all-paths', '--model', 'gpt-5'],
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'x',
      COPILOT_MODEL: 'gpt-5',
      COPILOT_OFFLINE: 'true',
    }),
  },
  gemini: {
    args: () => ['-p', 'go', '--yolo', '--skip-trust', '-m', 'gemini-2.5-flash'],
    env: (url) => ({ GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: url }),
    settings: { security: { auth: { selectedType: 'gemini-api-key' } } },
    variable: (name, value) => ['.env', `${name}=${value}\n`],
  },
}
