import type { Service } from '../call/service.ts'
import { expireDue } from './expiry.ts'
import { findApproval, type ApprovalRow, type Reach } from './record.ts'

/** A request as it stands; one whose time is over is ended for good before anybody is told. */
export const readSettled = async (
  { storage, waiting }: Service,
  request_id: string,
  reach: Reach,
): Promise<ApprovalRow> => {
  const read = () => storage.read((db) => findApproval(db, request_id, reach))
  const row = await read()
  if (row.status !== 'pending' || (row.format === 2 && row.expires_at > storage.now())) return row
  for (const ended of await storage.write((db) => expireDue(db, storage.now(), request_id)))
    waiting.wake(ended)
  return read()
}

/** Until somebody wakes, the time (milliseconds) is over, or the client goes. */
export const pause = (woken: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    signal?.addEventListener('abort', go)
    void woken.then(go)
  })

/** Answers when the request has ended, or as it is after `seconds`, when the client goes or the service stops. */
export const awaitEnd = async (
  service: Service,
  request_id: string,
  reach: Reach,
  { seconds, signal }: { seconds: number; signal?: AbortSignal },
): Promise<ApprovalRow> => {
  const { storage, waiting } = service
  const until = performance.now() + seconds * 1000
  for (;;) {
    // First listen, then read: what is decided between the two wakes this one.
    const listening = waiting.listen(request_id)
    try {
      const row = await readSettled(service, request_id, reach)
      const left = until - performance.now()
      if (row.status !== 'pending' || left <= 0 || waiting.stopped || signal?.aborted) return row
      const life = Date.parse(row.expires_at) - Date.parse(storage.now())
      await pause(listening.woken, Math.max(1, Math.min(left, life)), signal)
    } finally {
      listening.close()
    }
  }
}
