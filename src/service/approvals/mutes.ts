import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { tooSoon } from '../limits/rate-limit.ts'

const muteMs = 20 * 60_000

type Approver = { org_id: number; user_id: number }

/** Several agents may share the bearer of the tool server, so a mute there is of the name that one gives itself. */
const agentOf = (askedBy: number, requester: string): string => (askedBy === 0 ? requester : '')

const mutedAgentsAtMost = 1

/** Refuses a requester that this approver muted. */
export const refuseMuted = async (
  call: Call,
  { org_id, user_id }: Approver,
  requester: string,
): Promise<void> => {
  const { db, now, caller } = call
  const key = namedKeyOf(caller)
  const mutes = await db
    .selectFrom('mutes')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('key_id', '=', key)
    .where('until', '>', now)
    .select(['agent', 'until'])
    .orderBy('until')
    .execute()
  // Names are claimed, so a second muted one mutes the bearer: nobody gets around a mute by another name.
  const mute =
    mutes.length > mutedAgentsAtMost
      ? mutes.at(-1)
      : mutes.find(({ agent }) => agent === '' || agent === agentOf(key, requester))
  if (mute)
    throw tooSoon('muted', call, mute.until, (wait) => ({
      message: 'The approver did not expect a request of this requester, which is muted for a while',
      hint: `Talk to the approver first. You can ask again in ${wait}`,
    }))
}

/** "This was not me": this requester cannot ask this approver again for a while. */
export const muteRequester = async (
  { db, now }: Call,
  row: Approver & { asked_by: number; requester: string },
): Promise<void> => {
  const { org_id, user_id, asked_by: key_id } = row
  const agent = agentOf(key_id, row.requester)
  const until = addMs(now, muteMs)
  await db
    .insertInto('mutes')
    .values({ org_id, user_id, key_id, agent, until })
    .onConflict((of) => of.columns(['org_id', 'user_id', 'key_id', 'agent']).doUpdateSet({ until }))
    .execute()
}
