import type { Call, HandlerOf } from '../call/call.ts'
import type { RowData } from '../call/row-ids.ts'
import { hasActiveDevice } from '../devices/proof.ts'
import { findAccount, findMemberships, findPerson } from './person.ts'
import { isRegistered } from './registration.ts'

type Status = RowData<'getEnrollmentStatus'>

/** Whether the person is an active member within reach, with a device that can approve. */
const hasDevice = async (call: Call, user_id: number): Promise<boolean> => {
  for (const { id: org_id, state } of await findMemberships(call, user_id))
    if (state === 'active' && (await hasActiveDevice(call, { org_id, user_id }))) return true
  return false
}

export const getEnrollmentStatus: HandlerOf<'getEnrollmentStatus'> = async (who, call) => {
  const userId = (await findPerson(call, who))?.user_id
  if (userId === undefined)
    return {
      enrolled: false,
      state: 'unknown',
      requirements: ['confirm_mobile', 'join_organization', 'enroll_device'],
    }
  const account = await findAccount(call, userId)
  const states = new Set((await findMemberships(call, userId)).map(({ state }) => state))
  const isMember = states.has('active')
  const isPending = !isMember && states.has('pending')
  const enrolled = await hasDevice(call, userId)

  const state = async (): Promise<Status['state']> => {
    if (isMember) return enrolled ? 'enrolled' : 'member'
    if (isPending) return 'pending'
    if (account) return 'confirmed'
    return (await isRegistered(call, userId)) ? 'registered' : 'unknown'
  }
  const isRequired: Record<Status['requirements'][number], boolean> = {
    // An organization that accepted a member vouches for the number.
    confirm_mobile: !account && !isMember && !isPending,
    verify_email: account?.email != null && account.email_verified_at === null,
    join_organization: !isMember && !isPending,
    await_acceptance: isPending,
    enroll_device: !enrolled,
  }
  const steps = Object.keys(isRequired) as Status['requirements']
  return { enrolled, state: await state(), requirements: steps.filter((step) => isRequired[step]) }
}

export const isEnrolled: HandlerOf<'isEnrolled'> = async (who, call) => {
  const person = await findPerson(call, who)
  return { enrolled: person !== undefined && (await hasDevice(call, person.user_id)) }
}
