import type { Log } from '../../core/log.ts'

export type Prompt = { request_id: string; org_id: number; user_id: number }

/** Tells an approver that a request waits. Called once a request, after its commit; it never fails the request. */
export type Ring = (prompt: Prompt) => void

/** For development: a log line, in which the action does not stand. */
export const createLogRinger =
  (log: Log, now: () => string): Ring =>
  ({ request_id, org_id, user_id }) =>
    log({
      at: now(),
      level: 'info',
      message: `${request_id} waits for user ${user_id} of organization ${org_id}: svc approve inbox`,
    })
