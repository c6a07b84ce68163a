import { sha256 } from '../../core/ids.ts'
import { denyTogether } from '../approvals/deny-together.ts'
import type { HandlerOf } from '../call/call.ts'
import { actorAt, type Caller, requirePerson } from '../call/caller.ts'
import { createChallenge, type Question } from './challenge.ts'
import { proveDevice } from './proof.ts'

const questionOf = (caller: Caller, requests: readonly string[]): Question => {
  const { org_id, user_id, device_id } = requirePerson(caller)
  const digest = sha256(JSON.stringify(requests.toSorted()))
  return { type: 'denials', org_id, user_id, digest, device_id }
}

export const beginDenials: HandlerOf<'beginDenials'> = async ({ request_ids }, { keyring, caller, now }) => ({
  challenge: createChallenge(keyring, questionOf(caller, request_ids), now),
})

export const denyRequests: HandlerOf<'denyRequests'> = {
  before: async ({ request_ids, ...answer }, { service, caller }) => {
    const person = requirePerson(caller)
    const { device_id: deviceId } = person
    const { settle } = await proveDevice(service, answer, questionOf(caller, request_ids), { deviceId })
    return async (call) => {
      await settle(call)
      return { denied: await denyTogether(call, person, request_ids, actorAt(person)) }
    }
  },
}
