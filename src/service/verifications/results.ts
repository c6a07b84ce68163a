import type { auth } from '../../contract/auth.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import { readInstant } from '../../rules/instant.ts'
import type { Location } from '../../rules/location.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import { parseImei } from '../devices/imei.ts'
import { deviceOf } from './device.ts'
import { evaluate } from './evaluation.ts'
import { withdrawPrompts } from './prompt.ts'
import {
  capturedFactors,
  denied,
  findVerification,
  spend,
  spent,
  whoIsMeant,
  whyNotYet,
} from './verification.ts'

type Results = RowInput<typeof auth.submitAuthResults>
type Answer = RowData<typeof auth.submitAuthResults>

const windowMs = 5 * 60_000

const checkTimestamp = (timestamp: string, now: string): void => {
  const at = readInstant(timestamp)
  if (at === undefined)
    throw invalid('timestamp', 'must be ISO 8601 with an offset, such as 2030-01-31T12:00:00Z')
  const age = Date.parse(now) - at
  if (Math.abs(age) <= windowMs) return
  const seconds = Math.ceil(Math.abs(age) / 1000)
  throw invalid(
    'timestamp',
    `is ${seconds} s ${age > 0 ? 'old' : 'ahead of the clock of the service'}; it must be within ${windowMs / 1000} s of the check`,
    'Verify again and submit the results immediately',
  )
}

/** Where the device was when it checked, by its own word; undefined where that was not posted. */
const placeOf = ({ location, timestamp }: Results, now: string): Location | undefined => {
  const { latitude, longitude, accuracy_m = 0 } = location ?? {}
  if (latitude === undefined || longitude === undefined) return undefined
  // Checked already. A clock that is ahead makes nothing fresher than now.
  const at = new Date(Math.min(readInstant(timestamp)!, Date.parse(now))).toISOString()
  return { latitude, longitude, accuracy_m, at }
}

/** Decides about what a caller posts, and spends the verification with it, also with a no. */
const prepareResults = async (
  input: Results,
  { service, caller, ip }: Outside,
): Promise<(call: Call) => Promise<Answer | Refusal>> => {
  const { storage } = service
  const address = ip?.()
  checkTimestamp(input.timestamp, storage.now())
  const { imei } = input.device_info
  if (imei !== undefined) parseImei(imei, 'device_info.imei')
  const whom = { user_id: input.user_id, org_id: input.org_id }
  const member = await storage.read((db) => whoIsMeant({ db, caller }, whom))
  const rules = await service.rulesFor(member.org_id, member.user_id)

  return async (call) => {
    const row = await findVerification(call.db, {
      ...member,
      key_id: namedKeyOf(call.caller),
      request_id: input.request_id,
    })
    const not = await whyNotYet(call, row, { evenUnanswered: true })
    if (not) return not
    const { device, isKnown } = await deviceOf(call, member, input.device_info, rules)
    const location = placeOf(input, call.now)
    const evidence = {
      at: call.now,
      user_id: member.user_id,
      device,
      biometric: { user_verified: input.biometric_result === 'PASS' },
      ...(location && { location }),
      ...(address !== undefined && { ip: address }),
    }
    const isAnswered = row.kind === 'prompt' && row.status !== 'pending'
    const captured = isAnswered ? capturedFactors(row) : []
    const { allow, factors } = evaluate(rules, evidence, input, { captured, isDeviceKnown: isKnown })
    if (!(await spend(call, row, { outcome: allow ? 'success' : 'denied', source: 'caller' }))) return spent()
    // From now on nobody can answer it: what a caller says never becomes an approval or a receipt.
    if (row.status === 'pending')
      await withdrawPrompts(call, { request_id: row.request_id }, 'answered by results')
    const source = isAnswered ? 'service' : 'caller'
    if (!allow) return denied(factors, source)
    return { user_id: row.user_id, request_id: row.request_id, decision: 'PASS', source, factors }
  }
}

export const submitAuthResults: HandlerOf<typeof auth.submitAuthResults> = { before: prepareResults }
