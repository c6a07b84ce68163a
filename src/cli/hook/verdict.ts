import { blockingExit } from './blocking-exit.ts'
import type { HostName } from './host.ts'

/**
 * What a hook tells its host. `pass` is no opinion: the tool is not held, and the rules of the host alone decide. Only
 * `approved` allows a call.
 */
export type Verdict =
  | { kind: 'pass' }
  | { kind: 'approved'; id: string }
  | { kind: 'blocked'; reason: string }

const preToolUse = (permissionDecision: 'allow' | 'deny', permissionDecisionReason: string) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
})

const allowed: Record<HostName, (reason: string) => object> = {
  claude: (reason) => preToolUse('allow', reason),
  // Codex has no allow: it treats one as a failed hook. Its own approval policy still applies.
  codex: () => ({}),
  cursor: () => ({ permission: 'allow' }),
  copilot: (permissionDecisionReason) => ({ permissionDecision: 'allow', permissionDecisionReason }),
  gemini: (reason) => ({ decision: 'allow', reason }),
}

const denied: Record<HostName, (reason: string) => object> = {
  claude: (reason) => preToolUse('deny', reason),
  codex: (reason) => preToolUse('deny', reason),
  cursor: (reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  copilot: (permissionDecisionReason) => ({ permissionDecision: 'deny', permissionDecisionReason }),
  gemini: (reason) => ({ decision: 'deny', reason }),
}

type Written = { stdout: string; stderr: string; exit: number }

const print = (stdout: object, stderr = '', exit = 0): Written => ({
  stdout: `${JSON.stringify(stdout)}\n`,
  stderr,
  exit,
})

/** What the hook writes, and how it exits. */
export const verdictFor = (host: HostName, verdict: Verdict): Written => {
  if (verdict.kind === 'pass') return print({})
  if (verdict.kind === 'approved') return print(allowed[host](`Approved (${verdict.id})`))
  return print(denied[host](verdict.reason), `${verdict.reason}\n`, blockingExit)
}
