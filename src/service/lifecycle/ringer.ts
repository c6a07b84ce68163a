import type { Log } from '../../core/log.ts'
import type { Ring } from '../call/service.ts'

/** For development: a log line, in which the action does not stand. */
export const createLogRinger =
  (log: Log, now: () => string): Ring =>
  ({ request_id, org_id, user_id }) =>
    log({
      at: now(),
      level: 'info',
      message: `${request_id} waits for user ${user_id} of organization ${org_id}: svc approve inbox`,
    })
