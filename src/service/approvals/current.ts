import type { Service } from '../call/service.ts'
import { requestTopic } from '../call/signals/signals.ts'
import { waitFor } from '../call/signals/wait.ts'
import { expireDue } from './expiry.ts'
import type { ApprovalRow } from './rows.ts'
import { type ApprovalAccess, findApproval } from './record.ts'

/** Reads a request. If it is over, its end is committed before anybody sees it. */
export const readCurrent = async (
  { storage, keyring, signals }: Service,
  request_id: string,
  access: ApprovalAccess,
): Promise<ApprovalRow> => {
  const read = () => storage.read((db) => findApproval(db, request_id, access))
  const row = await read()
  if (row.status !== 'pending' || row.expires_at > storage.now()) return row
  for (const ended of await storage.write((db) => expireDue({ db, keyring }, storage.now(), { request_id }), {
    org: row.org_id,
  }))
    signals.wake(ended)
  return read()
}

/**
 * Returns the request once it has ended, or as it is after `seconds`, on a disconnect or when the service stops; with `answers`,
 * also once another person has answered.
 */
export const waitForEnd = (
  service: Service,
  request_id: string,
  access: ApprovalAccess,
  {
    seconds,
    signal,
    answers = false,
  }: { seconds: number; signal?: AbortSignal | undefined; answers?: boolean },
): Promise<ApprovalRow> => {
  let first: ApprovalRow | undefined
  return waitFor(
    service.signals,
    { topics: [requestTopic(request_id)], seconds, signal, share: JSON.stringify(access) },
    async () => {
      const row = await readCurrent(service, request_id, access)
      first ??= row
      const mayChangeInMs = Date.parse(row.expires_at) - Date.parse(service.storage.now())
      const isNews = answers && row.answers !== first.answers
      return { value: row, done: row.status !== 'pending' || isNews, mayChangeInMs }
    },
  )
}
