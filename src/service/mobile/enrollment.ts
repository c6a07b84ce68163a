import type { account } from '../../contract/account.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import type { RowData } from '../call/row-ids.ts'
import { withinOrganization } from '../call/tenant.ts'
import { ofActiveDevice } from '../devices/active.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import { findAccount, findPerson, membershipsOf, type Person } from './person.ts'
import { isRegistered } from './registration.ts'

type Status = RowData<typeof account.getEnrollmentStatus>

/** Whether an active member within reach has a device that counts. */
const hasDevice = async ({ db, caller, dev, keyring }: Call, userId: number): Promise<boolean> => {
  const devices = await db
    .selectFrom('devices as d')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.org_id', '=', 'd.org_id').onRef('m.user_id', '=', 'd.user_id'),
    )
    .where('d.user_id', '=', userId)
    .where(ofActiveDevice('d'))
    .where('m.state', '=', 'active')
    .$if(!dev, (query) => query.where('d.kind', '=', 'phone'))
    .where(withinOrganization(caller.orgId, 'd.org_id'))
    .selectAll('d')
    .execute()
  return devices.some((row) => isAuthenticDevice({ keyring }, row))
}

const facts = async (call: Call, person: Person) => {
  const states = new Set((await membershipsOf(call, person.user_id)).map(({ state }) => state))
  return {
    account: await findAccount(call, person.user_id),
    registered: await isRegistered(call, person.user_id),
    active: states.has('active'),
    pending: states.has('pending'),
    device: await hasDevice(call, person.user_id),
  }
}
type Facts = Awaited<ReturnType<typeof facts>>

const stateOf = ({ account, registered, active, pending, device }: Facts): Status['state'] => {
  if (active) return device ? 'enrolled' : 'member'
  if (pending) return 'pending'
  if (account) return 'confirmed'
  return registered ? 'registered' : 'unknown'
}

/** An organization that took somebody in vouches for the number; so only who is nowhere has to confirm it. */
const requirementsOf = ({ account, active, pending, device }: Facts): Status['requirements'] => [
  ...(account || active || pending ? [] : (['confirm_mobile'] as const)),
  ...(account && account.email !== null && account.email_verified_at === null
    ? (['verify_email'] as const)
    : []),
  ...(active || pending ? [] : (['join_organization'] as const)),
  ...(pending && !active ? (['await_acceptance'] as const) : []),
  ...(device ? [] : (['enroll_device'] as const)),
]

export const getEnrollmentStatus: HandlerOf<typeof account.getEnrollmentStatus> = async (who, call) => {
  const person = await findPerson(call, who)
  const known = person
    ? await facts(call, person)
    : { account: undefined, registered: false, active: false, pending: false, device: false }
  return { enrolled: known.device, state: stateOf(known), requirements: requirementsOf(known) }
}

export const isEnrolled: HandlerOf<typeof account.isEnrolled> = async (who, call) => {
  const person = await findPerson(call, who)
  return { enrolled: person !== undefined && (await hasDevice(call, person.user_id)) }
}
