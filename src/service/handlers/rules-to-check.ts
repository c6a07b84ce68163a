import type { Policy } from '../../rules/decide.ts'
import type { Outside } from '../call/call.ts'
import { findUser } from '../members/member.ts'
import { reachOrganization } from '../call/tenant.ts'

/** The compiled rules against which a caller tries out a place or a time, out of the memory that decisions use. */
export const rulesToCheck = async (
  { service, caller }: Outside,
  orgId: number,
  userId: number | undefined,
): Promise<Policy> => {
  await service.storage.read(async (db) => {
    await reachOrganization({ db, caller }, orgId)
    if (userId !== undefined) await findUser({ db }, orgId, userId)
  })
  return service.rulesFor(orgId, userId)
}
