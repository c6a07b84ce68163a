import { countSeated } from '../../core/assignment.ts'
import { addMs } from '../../core/iso-time.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'
import { readBallots } from './ballots.ts'
import { readableOf } from './genuine.ts'
import { isLong } from './limits.ts'
import { quietIn, idsOf, readLines } from './lines.ts'
import { isMuted, readMutes } from './mutes.ts'
import { pushToDevices } from './push.ts'
import type { ApprovalRow } from './rows.ts'

// Whoever does not answer a long request at once may forget it, so they are notified once more before it ends.

const beforeEndMs = 15 * 60_000
/** Requests in one sweep. The next one follows in seconds. */
const batchSize = 100

/** When to remind people of a request that lives this long; null for a short one. */
export const remindAt = (expires_at: string, lifetime_s: number): string | null =>
  isLong(lifetime_s) ? addMs(expires_at, -beforeEndMs) : null

const due = (db: Db, now: string) =>
  db
    .selectFrom('approvals')
    .where('status', '=', 'pending')
    .where('remind_at', '<=', now)
    .where('expires_at', '>', now)

/** Those who can still help to complete a request: not those of a line that has enough. */
const waitedFor = async (db: Db, row: ApprovalRow): Promise<number[]> => {
  const asked = readLines(row)
  const lines = idsOf(asked)
  const ballots = await readBallots(db, row)
  const agreed = ballots.filter(({ status }) => status === 'approved').map(({ user_id }) => String(user_id))
  const seated = countSeated(lines, agreed)
  const quiet = quietIn(asked)
  return ballots
    .filter(({ status, user_id }) => status === 'pending' && !quiet.has(user_id))
    .map(({ user_id }) => user_id)
    .filter((user_id) => countSeated(lines, [...agreed, String(user_id)]) > seated)
}

/** Reminds of one request. One conditional statement decides, so that of several nodes one does. */
const remind = async (service: Service, { id, org_id }: Pick<ApprovalRow, 'id' | 'org_id'>) => {
  const { storage, accept, channels, dev } = service
  const reminded = await storage.write(
    async (db) => {
      const now = storage.now()
      const stored = await db
        .updateTable('approvals')
        .set({ remind_at: null })
        .where('id', '=', id)
        .where('org_id', '=', org_id)
        .where('status', '=', 'pending')
        .where('remind_at', 'is not', null)
        .where('expires_at', '>', now)
        .returningAll()
        .executeTakeFirst()
      if (!stored) return []
      // One that another program has changed must not keep the others from theirs.
      const row = readableOf(stored)
      const people: { request_id: string; org_id: number; user_id: number }[] = []
      for (const user_id of await waitedFor(db, row)) {
        if (isMuted(await readMutes(db, { org_id, user_id }, now), row)) continue
        const send = (message: Parameters<typeof accept>[1]) => accept({ db, now }, message)
        await pushToDevices({ db, service: { channels, dev }, send }, row, user_id, { reminder: true })
        people.push({ request_id: row.request_id, org_id, user_id })
      }
      return people
    },
    { org: org_id },
  )
  if (reminded.length > 0) service.deliver()
  for (const person of reminded) service.notifyApprover(person)
}

/** Reminds of the requests that are about to end. */
export const remindDue = async (service: Service): Promise<void> => {
  const { storage } = service
  const found = await storage.read((db) =>
    due(db, storage.now()).select(['id', 'org_id']).orderBy('remind_at').limit(batchSize).execute(),
  )
  for (const one of found) await remind(service, one)
}
