import { sql } from 'kysely'
import { conflict, notFound } from '../../core/refusal.ts'
import type { Receipt } from '../../receipt/receipt.ts'
import type { Call } from '../call/call.ts'
import { ofMembership } from '../call/tenant.ts'
import { activeDevices } from '../devices/active.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import type { Db } from '../storage/schema.ts'
import { storeChanged } from '../storage/store-changed.ts'
import { askAgain } from './ask-again.ts'
import { whoApproved } from './lines.ts'
import type { ApprovalRow, BallotRow, RequestKey } from './rows.ts'

// Each person who is asked has a ballot of their own: what they sign, and what they answered.

const ofRequest = (db: Db, { request_id, org_id }: RequestKey) =>
  db
    .selectFrom('ballots')
    .where('ballots.request_id', '=', request_id)
    .where('ballots.org_id', '=', org_id)
    .selectAll('ballots')
    .orderBy('ballots.id')

/** True of a ballot that was not erased. A person who is created again is not asked what the deleted one was. */
export const ofPerson = (ballots: 'b' | 'ballots') => sql<boolean>`${sql.ref(`${ballots}.nonce`)} <> ''`

/** The ballot of a person. Fails with the 404 of an absent request for somebody who was not asked. */
export const findBallot = (db: Db, row: ApprovalRow, user_id: number): Promise<BallotRow> =>
  ofRequest(db, row)
    .where('user_id', '=', user_id)
    .where(ofPerson('ballots'))
    .executeTakeFirstOrThrow(() => notFound('Approval request'))

export const readBallots = (db: Db, row: ApprovalRow): Promise<BallotRow[]> => ofRequest(db, row).execute()

/** In a condition on ballots: the active devices of the person, if they are an active member. */
export const devicesOfVoter = (db: Db, dev: boolean, ballots: 'b' | 'ballots') =>
  activeDevices(db, dev)
    .where('d.org_id', '=', sql.ref<number>(`${ballots}.org_id`))
    .where('d.user_id', '=', sql.ref<number>(`${ballots}.user_id`))
    .select('d.id')

/** True of a ballot whose person is an active member with an active device: the one that signed, if it was answered. */
const stillCounts = (db: Db, row: ApprovalRow, dev: boolean) =>
  ofRequest(db, row).where(({ exists }) =>
    exists(devicesOfVoter(db, dev, 'ballots').where(sql<boolean>`coalesce(ballots.device_id, d.id) = d.id`)),
  )

/** Those of these people whom a key, by its first secret, has asked before. */
export const readAskedBefore = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  { org_id, asked_by }: Pick<ApprovalRow, 'org_id' | 'asked_by'>,
  people: readonly number[],
): Promise<Set<number>> => {
  const rows = await db
    .selectFrom('ballots')
    .where('org_id', '=', org_id)
    .where('first_asked_by', '=', asked_by)
    .where('user_id', 'in', people)
    .selectAll()
    .execute()
  // Another program could make the first time a later one.
  return new Set(rows.filter((row) => keyring.holds('ballots', row)).map(({ user_id }) => user_id))
}

/** The ids of the devices of these answers that are active, and that no other program has changed. */
const activeSigners = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  { org_id }: ApprovalRow,
  ballots: readonly BallotRow[],
): Promise<Set<number>> => {
  const ids = ballots.flatMap(({ device_id }) => device_id ?? [])
  const rows = await db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', 'in', [0, ...ids])
    .selectAll()
    .execute()
  const active = rows.filter((row) => row.state === 'active' && isAuthenticDevice({ keyring }, row))
  return new Set(active.map(({ id }) => id))
}

/** A yes of somebody who is on hold or no member any more, or whose device was revoked since. */
export const lapsedYes = (db: Db, { request_id, org_id }: RequestKey) =>
  db
    .selectFrom('ballots as b')
    .leftJoin('memberships as m', (join) => join.on(ofMembership('b')).on('m.state', '=', 'active'))
    .leftJoin('devices as d', (join) =>
      join.onRef('d.id', '=', 'b.device_id').onRef('d.org_id', '=', 'b.org_id').on('d.state', '=', 'active'),
    )
    .where('b.request_id', '=', request_id)
    .where('b.org_id', '=', org_id)
    .where('b.status', '=', 'approved')
    .where(({ or, eb }) => or([eb('m.id', 'is', null), eb('d.id', 'is', null)]))
    .select('b.id')

/** Somebody who can still answer, or whose yes still counts. */
export type Voter = { ballot: BallotRow; receipt: Receipt | undefined }

/**
 * The ballots that can still complete a request: authentic, of active members with an active device; a yes with the device
 * that signed it.
 */
export const readVoters = async (
  { db, keyring, service }: Pick<Call, 'db' | 'keyring'> & { service: Pick<Call['service'], 'dev'> },
  row: ApprovalRow,
): Promise<Voter[]> => {
  const ballots = await stillCounts(db, row, service.dev).where('status', '<>', 'denied').execute()
  const signers = await activeSigners({ db, keyring }, row, ballots)
  const genuine = ballots.filter(
    (ballot) =>
      keyring.holds('ballots', ballot) && (ballot.device_id === null || signers.has(ballot.device_id)),
  )
  // The id of a ballot is not under its MAC, so another program can show one twice.
  if (new Set(genuine.map(({ user_id }) => user_id)).size < genuine.length)
    throw storeChanged(`the request ${row.request_id} has two answers of one person`)
  return genuine.map((ballot) => ({
    ballot,
    receipt: ballot.attestation === null ? undefined : (JSON.parse(ballot.attestation) as Receipt),
  }))
}

/** Refuses to use an approval of somebody whose phone was stolen: whoever revokes it ends what it approved. */
export const requireApprovers = async (
  call: Parameters<typeof readVoters>[0],
  row: ApprovalRow,
): Promise<void> => {
  // Whoever allowed it earlier has no ballot here: see `requireGranter`.
  if (row.granted_by !== null) return
  const voters = await readVoters(call, row)
  const left = new Set(voters.flatMap(({ ballot }) => (ballot.status === 'approved' ? ballot.user_id : [])))
  if (whoApproved(row).every((id) => left.has(id))) return
  throw conflict(
    'approver_left',
    'Somebody who approved this is no longer an active member, or their device was revoked since',
    askAgain,
  )
}
