import type { Log } from '../../core/log.ts'
import type { Adapter } from './adapter.ts'

/** For development: the whole message in the log, codes too. Nobody gets anything. */
export const createDevLog =
  (log: Log, now: () => string): Adapter =>
  async ({ channel, kind, to, subject, text }) => {
    const about = subject === undefined ? '' : ` "${subject}"`
    log({ at: now(), level: 'info', message: `${channel} (${kind}) to ${to}${about}: ${text}` })
    return { state: 'sent', provider_id: 'log' }
  }
