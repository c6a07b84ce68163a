import type { ChainRow } from '../../receipt/chain.ts'
import type { EventRecord } from '../../contract/event.ts'
import type { Service } from '../call/service.ts'
import { signHead } from '../custody/audit-log.ts'
import { headAction } from './event.ts'

/** Adds the signed head to an event `audit.head`: the chain as it ended before the row of the event. */
export const withHead = async (
  service: Pick<Service, 'keyring' | 'publicUrl'>,
  event: EventRecord,
  row: ChainRow,
): Promise<EventRecord> => {
  if (row.action !== headAction) return event
  const { org_id, prev_hash: hash } = row
  const head = await signHead(service, { org_id, seq: row.seq - 1, hash }, row.at)
  return { ...event, data: { ...event.data, head } }
}
