import { sha256 } from '../../core/ids.ts'
import { denyTogether } from '../approvals/deny-together.ts'
import { reportDenied } from '../approvals/report.ts'
import type { HandlerOf } from '../call/call.ts'
import { actorAt, type Caller, requirePerson } from '../call/caller.ts'
import { createChallenge, type Question } from './challenge.ts'
import { proveDevice } from './proof.ts'

const denialsIn = (caller: Caller, requests: readonly string[]): Question => {
  const { org_id, user_id, device_id } = requirePerson(caller)
  const digest = sha256(JSON.stringify(requests.toSorted()))
  return { type: 'denials', org_id, user_id, digest, device_id }
}

export const beginDenials: HandlerOf<'beginDenials'> = async ({ request_ids }, call) =>
  createChallenge(call, denialsIn(call.caller, request_ids))

export const denyRequests: HandlerOf<'denyRequests'> = {
  before: async ({ request_ids, ...answer }, { service, caller }) => {
    const person = requirePerson(caller)
    const { settle } = await proveDevice(service, answer, denialsIn(caller, request_ids))
    return async (call) => {
      await settle(call)
      return { denied: await denyTogether(call, person, request_ids, actorAt(person)) }
    }
  },
}

const reportOf = (caller: Caller, request_id: string): Question => {
  const { org_id, user_id, device_id } = requirePerson(caller)
  return { type: 'report', org_id, user_id, request_id, device_id }
}

export const beginReport: HandlerOf<'beginReport'> = async ({ request_id }, call) =>
  createChallenge(call, reportOf(call.caller, request_id))

/** "This wasn't me", after the denial. */
export const reportRequest: HandlerOf<'reportRequest'> = {
  before: async ({ request_id, ...answer }, { service, caller }) => {
    const person = requirePerson(caller)
    const { settle } = await proveDevice(service, answer, reportOf(caller, request_id))
    return async (call) => {
      await settle(call)
      return { mute_id: await reportDenied(call, person, request_id, actorAt(person)) }
    }
  },
}
