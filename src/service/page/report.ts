import { reportDenied } from '../approvals/report.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { actorAt, requirePerson } from '../call/caller.ts'
import { createChallenge, type Question } from './challenge.ts'
import { proveDevice } from './proof.ts'

const questionOf = ({ caller }: Pick<Call, 'caller'>, request_id: string): Question => {
  const { org_id, user_id, device_id } = requirePerson(caller)
  return { type: 'report', org_id, user_id, request_id, device_id }
}

export const beginReport: HandlerOf<'beginReport'> = async ({ request_id }, call) => ({
  challenge: createChallenge(call.keyring, questionOf(call, request_id), call.now),
})

/** "This wasn't me", after the denial. */
export const reportRequest: HandlerOf<'reportRequest'> = {
  before: async ({ request_id, ...answer }, { service, caller }) => {
    const person = requirePerson(caller)
    const { device_id: deviceId } = person
    const { settle } = await proveDevice(service, answer, questionOf({ caller }, request_id), { deviceId })
    return async (call) => {
      await settle(call)
      return { mute_id: await reportDenied(call, person, request_id, actorAt(person)) }
    }
  },
}
