import type { device } from '../../contract/device.ts'
import { notFound, Refusal } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { devicesOf, ofActiveDevice } from '../devices/active.ts'
import { deviceNotAuthentic } from '../devices/record.ts'
import { type DeviceRow, isAuthenticDevice } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { requiresLocation } from '../policy/rules.ts'
import { readSettled } from './decision-waiter.ts'
import type { Posted } from './decision.ts'
import { lapsed, upgraded } from './expiry.ts'
import { alreadyEnded } from './finish.ts'
import { answeredSubject, approvalAccess, contextsOf, findApproval } from './record.ts'

const everywhere = { orgId: null }

const approverNotAuthentic = (): Refusal =>
  new Refusal(
    403,
    'approver_not_authentic',
    'Another program has changed the number of the approver in the store',
    {
      hint: 'Nobody can decide this request. The operator restores a backup, or deletes the user and creates them again',
    },
  )

const requestNotAuthentic = (): Refusal =>
  new Refusal(403, 'request_not_authentic', 'Another program has changed this request in the store', {
    hint: 'Nobody can decide it. Ask again: svc approve request',
  })

/** The request and the device that answers; 404 for a device of somebody else as for no such request. */
export const findDecider = (
  { storage, keyring, publicUrl }: Service,
  { request_id, response }: RowInput<typeof device.decideApproval>,
): Promise<Posted> => {
  const decidedAt = storage.now()
  return storage.read(async (db) => {
    const row = await findApproval(db, request_id, everywhere)
    if (row.format !== 2) throw lapsed(upgraded)
    // The receipt says all this in the name of the service.
    if (!keyring.holds('approvals', row)) throw requestNotAuthentic()
    const found: DeviceRow = await db
      .selectFrom('devices')
      .where('credential_id', '=', response.id)
      .where('org_id', '=', row.org_id)
      .where('user_id', '=', row.user_id)
      .selectAll()
      .executeTakeFirstOrThrow(() => notFound('Approval request'))
    if (!isAuthenticDevice({ keyring }, found)) throw deviceNotAuthentic()
    const person = await db
      .selectFrom('people')
      .where('id', '=', row.user_id)
      .selectAll()
      .executeTakeFirstOrThrow(() => notFound('Approval request'))
    // The receipt names the approver by this number: nobody may have written it beside another person's device.
    if (!keyring.holds('people', person) || person.mobile !== row.approver_mobile)
      throw approverNotAuthentic()
    return { row, device: found, site: await readSite(db, publicUrl), decidedAt }
  })
}

export const decideApproval: HandlerOf<typeof device.decideApproval> = {
  before: async (input, outside) => {
    const posted = await findDecider(outside.service, input)
    // The verifier takes long to load. Nobody else's device can make the service load it.
    const { prepareDecision } = await import('./decision.ts')
    return prepareDecision(input, outside, posted)
  },
}

export const getCeremony: HandlerOf<typeof device.getCeremony> = {
  before: async ({ request_id }, { service, caller }) => {
    const row = await readSettled(service, request_id, approvalAccess(caller))
    if (row.status !== 'pending') throw alreadyEnded(row)
    return async (call) => {
      const devices = await devicesOf(call.db, row)
        .where(ofActiveDevice('devices'))
        .$if(!call.dev, (query) => query.where('kind', '=', 'phone'))
        .selectAll()
        .execute()
      return {
        request_id,
        ...(await readSite(call.db, call.publicUrl)),
        contexts: contextsOf(row),
        credentials: devices.filter((one) => isAuthenticDevice(call, one)).map((one) => one.credential_id),
        number_required: row.number !== null,
        verified_as: row.verified_as,
        subject: answeredSubject(row),
        location_required: await requiresLocation(call.db, row),
      }
    }
  },
}
