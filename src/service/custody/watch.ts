import type { Log } from '../../core/log.ts'
import type { Service } from '../call/service.ts'
import { findAlteredRows } from './altered-rows.ts'

const everyMs = 60 * 60_000

/** Warns of each row that another program has changed, once: soon after the start, and every hour. Answers how to stop. */
export const watchCustody = ({ storage, keyring }: Service, log: Log): (() => void) => {
  const told = new Set<string>()
  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })
  const look = async (): Promise<void> => {
    for (const { org_id, kind, id } of await findAlteredRows({ storage, keyring })) {
      const name = `${kind.replace('_', ' ')} ${id} of ${org_id === 0 ? 'the service' : `organization ${org_id}`}`
      if (told.has(name)) continue
      told.add(name)
      warn(`Another program has changed ${name} in the store, so it is not used`)
    }
  }
  const lookOrWarn = (): void => void look().catch((error: unknown) => warn(String(error)))
  lookOrWarn()
  const timer = setInterval(lookOrWarn, everyMs).unref()
  return () => clearInterval(timer)
}
