import { lineName } from '../../receipt/lines.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import { isGenuine } from './genuine.ts'
import { readLines, readRules } from './lines.ts'
import { selectApprovals, storedSubject } from './record.ts'

/** What a webhook with the scope `read` is told of a request. Nothing if another program changed it in the store. */
export const createTeller =
  ({ storage, keyring }: { storage: Pick<Storage, 'read'>; keyring: Pick<Keyring, 'holds'> }) =>
  async (request_id: string, orgId: number) => {
    const row = await storage.read((db) =>
      selectApprovals(db, { orgId }).where('a.request_id', '=', request_id).executeTakeFirst(),
    )
    if (!row || !isGenuine(row, { keyring })) return undefined
    const who = readLines(row).map((line) =>
      line.group ? lineName(line) : `${line.need} of ${line.people.map(({ name }) => name).join(', ')}`,
    )
    const subject = storedSubject(row)
    return {
      action: subject ? summaryOf(subject) : row.action,
      who: who.join('; '),
      rules: readRules(row).map(({ name }) => name),
      ...(row.break_glass !== null && { isEmergency: true as const }),
    }
  }
