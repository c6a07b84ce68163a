import { sha256 } from '../../core/ids.ts'
import { Refusal } from '../../core/refusal.ts'
import { denyTogether } from '../approvals/deny-together.ts'
import { reportDenied } from '../approvals/report.ts'
import type { HandlerOf } from '../call/call.ts'
import { actorAt } from '../call/caller.ts'
import type { Signed } from './challenge.ts'
import { challengeFor, signs } from './proof.ts'

const asksToDeny = ({ request_ids }: { request_ids: readonly string[] }): Signed => ({
  type: 'denials',
  digest: sha256(JSON.stringify(request_ids.toSorted())),
})

export const beginDenials: HandlerOf<'beginDenials'> = challengeFor(asksToDeny)

export const denyRequests: HandlerOf<'denyRequests'> = signs(
  asksToDeny,
  async (call, { request_ids }, { person, settle }) => {
    await settle(call)
    return { denied: await denyTogether(call, person, request_ids, actorAt(person)) }
  },
)

const asksToReport = ({ request_id }: { request_id: string }): Signed => ({ type: 'report', request_id })

export const beginReport: HandlerOf<'beginReport'> = challengeFor(asksToReport)

/** "This wasn't me", after the denial. */
export const reportRequest: HandlerOf<'reportRequest'> = signs(
  asksToReport,
  async (call, { request_id }, { person, settle }) => {
    await settle(call)
    const mute_id = await reportDenied(call, person, request_id, actorAt(person))
    return mute_id instanceof Refusal ? mute_id : { mute_id }
  },
)
