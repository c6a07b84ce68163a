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

type Decision = 'allow' | 'deny'

const preToolUse = (permissionDecision: Decision, permissionDecisionReason: string) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
})

const decisions: Record<HostName, (decision: Decision, reason: string) => object> = {
  claude: preToolUse,
  // Codex has no allow: it treats one as a failed hook. Its own approval policy still applies.
  codex: (decision, reason) => (decision === 'allow' ? {} : preToolUse(decision, reason)),
  cursor: (permission, reason) =>
    permission === 'allow' ? { permission } : { permission, user_message: reason, agent_message: reason },
  copilot: (permissionDecision, permissionDecisionReason) => ({
    permissionDecision,
    permissionDecisionReason,
  }),
  gemini: (decision, reason) => ({ decision, reason }),
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
  if (verdict.kind === 'approved') return print(decisions[host]('allow', `Approved (${verdict.id})`))
  return print(decisions[host]('deny', verdict.reason), `${verdict.reason}\n`, blockingExit)
}
