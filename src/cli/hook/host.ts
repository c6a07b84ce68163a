import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../../core/env.ts'

// What is known of each host: where it reads its hooks, and what an entry looks like. docs/hooks.md names the sources.

export const hostNames = ['claude', 'codex', 'cursor', 'copilot', 'gemini'] as const
export type HostName = (typeof hostNames)[number]

export const levels = ['user', 'project', 'managed'] as const
export type Level = (typeof levels)[number]

/** What an entry is made from. */
export type EntryParts = { command: string; pattern: string; seconds: number }

export type Host = {
  name: HostName
  title: string
  /** The event before a tool call. */
  event: string
  /** The tools that run commands, which a hook holds by default. */
  shell: readonly string[]
  /** Other names under which the host matches a tool. */
  aliases?: Readonly<Record<string, readonly string[]>>
  /** The configuration file of each level; undefined if `svc` cannot write it. */
  files(env: Env, cwd: string): Record<Level, string | undefined>
  /** What a new file contains besides the hook. */
  fresh?: Record<string, unknown>
  /** The element of the list at `hooks.<event>`. */
  entry(wanted: EntryParts): Record<string, unknown>
  /** The path to the command in that element. */
  commandAt: readonly (string | number)[]
  /** Settings with which the host ignores its hooks: any value, or this one or a list that contains it. */
  disabledBy?: readonly { path: readonly string[]; value?: boolean | string }[]
  /** Without this setting, the host runs the commands in the text of a skill, and tells no hook of them. */
  skillSetting?: string
  /** A project can disable the hooks of the administrator, too. */
  isProjectTrusted?: true
  /** A file of settings in the folder of a project besides that of the hooks. */
  ownSettings?: string
  /** What a person has to do after the installation. */
  next?: string
  /** The program that reports the version; none if nobody has seen what it does if a hook does not answer in time. */
  program?: string
  /** The first version that then blocks a call; those before run it. */
  blocksFrom?: string
  /** The last version that was seen to run it then. */
  runsUntil?: string
}

const homeOf = (env: Env): string => env['HOME'] || homedir()

/** The folder of a system-wide file: the first on macOS, the second elsewhere. */
const system = (mac: string, other: string): string => (process.platform === 'darwin' ? mac : other)

/** What Claude Code and Codex show while the hook runs. */
const status = 'Waiting for an approval'

const grouped = (more: Record<string, unknown>, units = 1): Pick<Host, 'entry' | 'commandAt'> => ({
  entry: ({ command, pattern, seconds }) => ({
    matcher: pattern,
    hooks: [{ type: 'command', command, timeout: seconds * units, ...more }],
  }),
  commandAt: ['hooks', 0, 'command'],
})

const disableAll = { path: ['disableAllHooks'], value: true }
/** Where bash is /bin/sh, it then reads the line and runs nothing: no opinion. */
const noexec = { path: ['env', 'SHELLOPTS'] }

export const hosts: Record<HostName, Host> = {
  claude: {
    name: 'claude',
    title: 'Claude Code',
    event: 'PreToolUse',
    shell: ['Bash', 'PowerShell', 'Monitor'],
    files: (env, cwd) => ({
      user: join(env['CLAUDE_CONFIG_DIR'] || join(homeOf(env), '.claude'), 'settings.json'),
      project: join(cwd, '.claude', 'settings.json'),
      managed: join(
        system('/Library/Application Support/ClaudeCode', '/etc/claude-code'),
        'managed-settings.d',
        'svc.json',
      ),
    }),
    ...grouped({ statusMessage: status, onFailure: 'block' }),
    disabledBy: [disableAll, noexec],
    skillSetting: 'disableSkillShellExecution',
    ownSettings: '.claude/settings.local.json',
    program: 'claude',
    blocksFrom: '2.1.295',
  },
  codex: {
    name: 'codex',
    title: 'Codex',
    event: 'PreToolUse',
    shell: ['Bash'],
    aliases: { apply_patch: ['Edit', 'Write'] },
    files: (env, cwd) => ({
      user: join(env['CODEX_HOME'] || join(homeOf(env), '.codex'), 'hooks.json'),
      project: join(cwd, '.codex', 'hooks.json'),
      // Part of requirements.toml, with other policies of the administrator.
      managed: undefined,
    }),
    ...grouped({ statusMessage: status }),
    next: 'Codex ignores a new or changed hook until you trust it: type /hooks in Codex',
    program: 'codex',
    runsUntil: '0.169.0',
  },
  cursor: {
    name: 'cursor',
    title: 'Cursor',
    event: 'preToolUse',
    shell: ['Shell'],
    files: (env, cwd) => ({
      user: join(homeOf(env), '.cursor', 'hooks.json'),
      project: join(cwd, '.cursor', 'hooks.json'),
      managed: join(system('/Library/Application Support/Cursor', '/etc/cursor'), 'hooks.json'),
    }),
    fresh: { version: 1 },
    entry: ({ command, pattern, seconds }) => ({
      command,
      matcher: pattern,
      timeout: seconds,
      failClosed: true,
    }),
    commandAt: ['command'],
  },
  copilot: {
    name: 'copilot',
    title: 'Copilot CLI',
    event: 'preToolUse',
    shell: ['bash', 'powershell'],
    files: (env, cwd) => ({
      user: join(env['COPILOT_HOME'] || join(homeOf(env), '.copilot'), 'hooks', 'svc.json'),
      project: join(cwd, '.github', 'hooks', 'svc.json'),
      managed: '/etc/github-copilot/policy.d/svc.json',
    }),
    fresh: { version: 1 },
    entry: ({ command, pattern, seconds }) => ({
      type: 'command',
      matcher: pattern,
      bash: command,
      timeoutSec: seconds,
    }),
    commandAt: ['bash'],
    disabledBy: [disableAll],
    program: 'copilot',
    runsUntil: '1.0.102',
  },
  gemini: {
    name: 'gemini',
    title: 'Gemini CLI',
    event: 'BeforeTool',
    shell: ['run_shell_command'],
    files: (env, cwd) => ({
      user: join(env['GEMINI_CLI_HOME'] || homeOf(env), '.gemini', 'settings.json'),
      project: join(cwd, '.gemini', 'settings.json'),
      managed:
        env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] ||
        join(system('/Library/Application Support/GeminiCli', '/etc/gemini-cli'), 'settings.json'),
    }),
    // Gemini counts milliseconds.
    ...grouped({ name: 'svc' }, 1000),
    disabledBy: [
      { path: ['hooksConfig', 'enabled'], value: false },
      { path: ['hooksConfig', 'disabled'], value: 'svc' },
    ],
    isProjectTrusted: true,
    program: 'gemini',
    runsUntil: '0.61.0',
  },
}
