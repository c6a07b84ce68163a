import type { approver } from '../../contract/approver.ts'
import { makeChallenge } from '../approver/challenge.ts'
import { awaitInbox } from '../approver/inbox.ts'
import { endSession } from '../approver/session.ts'
import { openSession, readSession } from '../approver/sign-in.ts'
import type { Handlers } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { ofKeptDevice } from '../devices/active.ts'
import { challengeOfToken, enrollmentOver, findEnrollment } from '../devices/enrollment.ts'
import { readSite } from '../devices/site.ts'
import { verifyEmail } from '../mobile/email-link.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import { wantsLocation } from '../policy/rules.ts'
import { keepSubscription } from '../push/subscription.ts'

type Group = Exclude<keyof typeof approver, 'listMembers' | 'beginMemberMove' | 'moveMember'>

export const approverHandlers: Pick<Handlers<typeof approver>, Group> = {
  beginEnrollment: async ({ token }, call) => {
    const enrollment = await findEnrollment(call, token)
    if (!enrollment) throw enrollmentOver()
    const { org_id, user_id, user_handle, first_name, last_name, organization } = enrollment
    const { attestation } = await readDevicePolicy(call, org_id)
    const { rp_id } = await readSite(call.db, call.publicUrl)
    const registered = await call.db
      .selectFrom('devices')
      .where('org_id', '=', org_id)
      .where('user_id', '=', user_id)
      .where(ofKeptDevice('devices'))
      .select('credential_id')
      .orderBy('id')
      .execute()
    return {
      first_name,
      organization,
      user_name: `${first_name} ${last_name}, ${organization}`,
      rp_id,
      challenge: challengeOfToken(token),
      user_handle,
      exclude: registered.map((one) => one.credential_id),
      attestation,
      wants_location: await wantsLocation(call.db, org_id, user_id),
    }
  },

  verifyEmail,

  beginSession: async (_, call) => ({
    rp_id: (await readSite(call.db, call.publicUrl)).rp_id,
    challenge: makeChallenge(call.keyring, { type: 'session' }, call.now),
  }),

  openSession,

  getSession: (_, call) => readSession(call, requirePerson(call.caller).device_id),

  closeSession: async (_, call) => {
    const person = requirePerson(call.caller)
    await endSession(call, person)
    call.wake(person)
    await call.audit(person.org_id, `device:${person.device_id}`, ['session'])
  },

  listInbox: {
    before: async ({ wait_s = 0, seen }, { service, caller, signal }) => {
      const inbox = await awaitInbox(service, requirePerson(caller), { seconds: wait_s, seen, signal })
      return async () => inbox
    },
  },

  subscribePush: keepSubscription,
}
