import type { HostName } from './host.ts'

/** Every host blocks a call if its hook exits with this code and says why on standard error. */
const blockingExit = 2

let armed = false
let released = false

/**
 * From here on, the process exits with the code that blocks a call, however it ends: by an error, a signal, an output that
 * cannot be written, or because nothing is left to do.
 */
export const blockUntilReleased = (): void => {
  // src/main.ts has set it. Without that, this is not a process of its own.
  armed = process.exitCode === blockingExit
  if (!armed) return
  process.on('exit', () => {
    if (!released) process.exitCode = blockingExit
  })
}

/** Lets the exit code of the command stand, after a verdict that does not block was written. */
export const release = (): void => {
  released = true
}

/** Ends a process that still waits for something, before its host gives up and lets the call run. */
export const endBlocked = (): void => {
  if (armed) process.exit(blockingExit)
}

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
