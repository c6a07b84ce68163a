import type { NodeRecord } from '../../contract/node.ts'
import type { HandlerOf } from '../call/call.ts'
import type { NodeReport } from '../call/service.ts'
import { lostAfterS } from '../storage/schema/service.ts'

const recordOf = (report: NodeReport, now: string): NodeRecord => {
  const lag_s = Math.max(0, Math.round((Date.parse(now) - Date.parse(report.seen_at)) / 100) / 10)
  return { ...report, lag_s, state: lag_s > lostAfterS ? 'lost' : report.state }
}

/** Of an embedded store, this process is the only node. */
export const listNodes: HandlerOf<'listNodes'> = {
  before: async (_, { service: { storage, node } }) => {
    const reports = storage.shared
      ? await storage.read((db) =>
          db.selectFrom('nodes').selectAll().orderBy('address').orderBy('started_at').execute(),
        )
      : [node()]
    const now = storage.now()
    return async () => reports.map((report) => recordOf(report, now))
  },
}
