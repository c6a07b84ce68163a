import { forbidden, invalid, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { organizationRow } from '../call/tenant.ts'
import { countedDevices, ofActiveDevice } from '../devices/active.ts'
import { deviceNotAuthentic, inactiveDevice } from '../devices/record.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { requiresLocation } from '../policy/factor-settings.ts'
import { requestNotAuthentic } from './authentic.ts'
import { findBallot, readBallots } from './ballots.ts'
import { readCurrent } from './current.ts'
import type { PostedDecision } from './decision.ts'
import { isGenuine } from './genuine.ts'
import { grantOffer } from './grants.ts'
import { toLineRecords } from './lines.ts'
import { alreadyEnded, decisionDigest, isRepeated } from './posted-decision.ts'
import type { ApprovalRow, BallotRow } from './rows.ts'
import { approvalAccess, encodedContexts, findApproval, toSubjectRecord } from './record.ts'

/** Finds the request and the device. The device of another person gets the 404 of an absent request. */
const findDecider = (
  { storage, keyring, publicUrl }: Service,
  input: RowInput<'decideApproval'>,
): Promise<PostedDecision> => {
  const { request_id, response } = input
  const decidedAt = storage.now()
  const digest = decisionDigest(input)
  return storage.read(async (db) => {
    const row = await findApproval(db, request_id, { orgId: null })
    // The service signs the content of these rows in the receipt, so another program must not have written them.
    if (!isGenuine(row, { keyring })) throw requestNotAuthentic('decided')
    const device = await db
      .selectFrom('devices')
      .where('credential_id', '=', response.id)
      .where('org_id', '=', row.org_id)
      .selectAll()
      .executeTakeFirstOrThrow(() => notFound('Approval request'))
    const ballot = await findBallot(db, row, device.user_id)
    if (!keyring.holds('ballots', ballot)) throw requestNotAuthentic('decided')
    if (!isAuthenticDevice({ keyring }, device)) throw deviceNotAuthentic()
    if (device.bound_at === null) throw inactiveDevice(device)
    const person = await db
      .selectFrom('people')
      .where('id', '=', ballot.user_id)
      .selectAll()
      .executeTakeFirstOrThrow(() => notFound('Approval request'))
    if (!keyring.holds('people', person) || person.mobile !== ballot.mobile)
      throw forbidden(
        'approver_not_authentic',
        'Another program has changed the number of the approver in the store',
        'This request cannot be decided. The operator must restore a backup, or delete the user and create them again',
      )
    const { policy } = await organizationRow(db, row.org_id)
    const presence = policy.deny_check === 'presence'
    return { row, ballot, device, site: await readSite(db, publicUrl), decidedAt, digest, presence }
  })
}

export const decideApproval: HandlerOf<'decideApproval'> = {
  before: async (input, outside) => {
    const posted = await findDecider(outside.service, input)
    // The verifier is slow to load, so only a device of the approver makes the service load it.
    const { prepareDecision, repeatDecision } = await import('./decision.ts')
    if (isRepeated(posted.ballot, posted.digest)) return repeatDecision(input, posted)
    return prepareDecision(input, outside, posted)
  },
}

/** The ballot of whoever has this credential; without one, of the only person who is asked. */
const ballotFor = async (
  { db }: Pick<Call, 'db'>,
  row: ApprovalRow,
  credential: string | undefined,
): Promise<BallotRow> => {
  const ballots = await readBallots(db, row)
  if (ballots.length === 1) return ballots[0]!
  if (credential === undefined) throw invalid('credential', 'is required: several people are asked')
  const { user_id } = await db
    .selectFrom('devices')
    .where('credential_id', '=', credential)
    .where('org_id', '=', row.org_id)
    .select('user_id')
    .executeTakeFirstOrThrow(() => notFound('Approval request'))
  return findBallot(db, row, user_id)
}

export const getCeremony: HandlerOf<'getCeremony'> = {
  before: async ({ request_id, credential }, { service, caller }) => {
    const row = await readCurrent(service, request_id, approvalAccess(caller))
    if (row.status !== 'pending') throw alreadyEnded(row)
    if (!isGenuine(row, service)) throw requestNotAuthentic('decided')
    return async (call) => {
      const ballot = await ballotFor(call, row, credential)
      if (!call.keyring.holds('ballots', ballot)) throw requestNotAuthentic('decided')
      const devices = await countedDevices(call, ballot).where(ofActiveDevice('devices')).execute()
      return {
        request_id,
        ...(await readSite(call.db, call.service.publicUrl)),
        contexts: encodedContexts(row, ballot),
        credentials: devices.filter((one) => isAuthenticDevice(call, one)).map((one) => one.credential_id),
        number_required: row.number !== null,
        verified_as: row.verified_as,
        ...(row.asked_from !== null && { requested_from: row.asked_from }),
        subject: toSubjectRecord(row),
        lines: toLineRecords(row),
        ...grantOffer(row),
        location_required: await requiresLocation(call.db, { ...ballot, factors: row.factors }),
      }
    }
  },
}
