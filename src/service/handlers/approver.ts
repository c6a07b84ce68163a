import type { approver } from '../../contract/approver.ts'
import { makeChallenge } from '../approver/challenge.ts'
import { awaitInbox } from '../approver/inbox.ts'
import { beginEnrollment } from '../approver/registration.ts'
import { endSession } from '../approver/session.ts'
import { openSession, readSession } from '../approver/sign-in.ts'
import type { Handlers } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { readSite } from '../devices/site.ts'
import { verifyEmail } from '../mobile/email-link.ts'
import { subscribePush } from '../push/subscription.ts'

type Group = Exclude<keyof typeof approver, 'listMembers' | 'beginMemberMove' | 'moveMember'>

export const approverHandlers: Pick<Handlers<typeof approver>, Group> = {
  beginEnrollment,

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

  subscribePush,
}
