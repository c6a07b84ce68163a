import type { auth } from '../../contract/auth.ts'
import type { Device } from '../../rules/device.ts'
import { readInstant } from '../../rules/instant.ts'
import type { Call, Outside } from '../call.ts'
import { parseImei } from '../mobile/imei.ts'
import { invalid, Refusal } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'
import { evaluate } from './evaluation.ts'
import {
  capturedFactors,
  denied,
  findVerification,
  spend,
  spent,
  whoIsMeant,
  whyNotYet,
} from './verification.ts'
import type { RowData, RowInput } from '../row-ids.ts'

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
    `is ${seconds} s ${age > 0 ? 'old' : 'ahead of the clock of the service'}; results count within ${windowMs / 1000} s of the check`,
    'Verify again and submit the results at once',
  )
}

type Member = { org_id: number; user_id: number }

/** By its IMEI, from the account of this organization's app, or else from the one with which the person asked to join. */
const registeredPhone = async (db: Db, { org_id, user_id }: Member): Promise<string | undefined> => {
  const account = await db
    .selectFrom('mobile_accounts')
    .where('user_id', '=', user_id)
    .where('org_id', 'in', [org_id, 0])
    .where('imei', 'is not', null)
    .select('imei')
    .orderBy('org_id', 'desc')
    .executeTakeFirst()
  return account && parseImei(account.imei!).phone
}

/** The device as the rules want it; one that is not of this user is registered to nobody. */
const deviceOf = async (
  { db, dev }: Call,
  { org_id, user_id }: Member,
  { device_id, imei }: Results['device_info'],
): Promise<Device> => {
  const rows = await db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .$if(!dev, (query) => query.where('kind', '=', 'phone'))
    .select(['id', 'revoked_at'])
    .execute()
  const device = rows.find(({ id }) => String(id) === device_id)
  const known_imei = imei === undefined ? undefined : await registeredPhone(db, { org_id, user_id })
  return {
    ...(device
      ? { id: device.id, registered_to: user_id, revoked: device.revoked_at !== null }
      : { id: device_id, registered_to: null, revoked: false }),
    ...(known_imei !== undefined && { known_imei, imei: parseImei(imei!, 'device_info.imei').phone }),
  }
}

/** Decides about what a caller posts, and spends the verification with it, also with a no. */
export const prepareResults = async (
  input: Results,
  { service, caller, ip }: Outside,
): Promise<(call: Call) => Promise<Answer | Refusal>> => {
  const { storage } = service
  checkTimestamp(input.timestamp, storage.now())
  const { imei } = input.device_info
  if (imei !== undefined) parseImei(imei, 'device_info.imei')
  const whom = { user_id: input.user_id, org_id: input.org_id }
  const member = await storage.read((db) => whoIsMeant({ db, caller }, whom))
  const rules = await service.rulesFor(member.org_id, member.user_id)

  return async (call) => {
    const row = await findVerification(call.db, { ...member, request_id: input.request_id })
    const not = await whyNotYet(call, row)
    if (not) return not
    const { biometric_result, device_info } = input
    const evidence = {
      at: call.now,
      user_id: member.user_id,
      device: await deviceOf(call, member, device_info),
      biometric: { user_verified: biometric_result === 'PASS' },
      ...(ip !== undefined && { ip }),
    }
    const { allow, factors } = evaluate(
      rules,
      evidence,
      input,
      row.kind === 'prompt' ? capturedFactors(row) : [],
    )
    if (!(await spend(call, row, { outcome: allow ? 'success' : 'denied', source: 'caller' }))) return spent()
    return allow ? { user_id: row.user_id, request_id: row.request_id, factors } : denied(factors)
  }
}
