import type { HostName } from '../src/cli/hook/host.ts'
import type { Ended } from './e2e/processes.ts'

// The hosts as their documentation describes them: what they write to a hook, and when they let the call run.

/** What a host writes to its hook before it runs a command. */
export const inputOf = (host: HostName, command: string, more: Record<string, unknown> = {}): object =>
  ({
    claude: {
      session_id: 'abc123',
      transcript_path: '/home/ada/.claude/projects/a.jsonl',
      cwd: '/home/ada/work',
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command, description: 'Deploys', ...more },
      tool_use_id: 'toolu_01',
    },
    codex: {
      session_id: '0199',
      turn_id: 'turn-1',
      transcript_path: null,
      cwd: '/home/ada/work',
      hook_event_name: 'PreToolUse',
      model: 'gpt-5.3-codex',
      permission_mode: 'default',
      tool_name: 'Bash',
      tool_input: { command, ...more },
      tool_use_id: 'call-1',
    },
    cursor: {
      conversation_id: 'c',
      generation_id: 'g',
      model: 'm',
      hook_event_name: 'preToolUse',
      cursor_version: '2.0.77',
      workspace_roots: ['/home/ada/work'],
      user_email: null,
      transcript_path: null,
      tool_name: 'Shell',
      tool_input: { command, working_directory: '/home/ada/work', ...more },
      tool_use_id: 'abc123',
      cwd: '/home/ada/work',
      agent_message: 'Deploying',
    },
    copilot: {
      sessionId: 's',
      timestamp: 1_790_000_000_000,
      cwd: '/home/ada/work',
      toolName: 'bash',
      toolArgs: { command, ...more },
    },
    gemini: {
      session_id: 's',
      transcript_path: '/home/ada/.gemini/t.json',
      cwd: '/home/ada/work',
      hook_event_name: 'BeforeTool',
      timestamp: '2026-11-22T12:00:00Z',
      tool_name: 'run_shell_command',
      tool_input: { command, ...more },
    },
  })[host]

type Output = {
  hookSpecificOutput?: { permissionDecision?: string }
  permissionDecision?: string
  permission?: string
  decision?: string
}

const json = (text: string): Output | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a host would now run the call. Without the settings with which some hosts block after a failure of a hook. */
const lets: Record<HostName, (ended: Ended) => boolean> = {
  claude: ({ exit, stdout }) =>
    exit !== 2 && !(exit === 0 && json(stdout)?.hookSpecificOutput?.permissionDecision === 'deny'),
  codex: ({ exit, stdout, stderr }) => {
    if (exit === 2) return stderr.trim() === ''
    return !(exit === 0 && json(stdout)?.hookSpecificOutput?.permissionDecision === 'deny')
  },
  cursor: ({ exit, stdout }) => exit !== 2 && !(exit === 0 && json(stdout)?.permission === 'deny'),
  // A hook that was killed is a time-out.
  copilot: ({ exit, stdout }) => exit === null || (exit === 0 && json(stdout)?.permissionDecision !== 'deny'),
  gemini: ({ exit, stdout, stderr }) => {
    const text = stdout.trim() || stderr.trim()
    const output = json(text)
    return output ? !['deny', 'block'].includes(output.decision ?? '') : text === '' || (exit ?? 0) < 2
  },
}

export const letsRun = (host: HostName, ended: Ended): boolean => lets[host](ended)
