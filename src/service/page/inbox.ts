import { progressFor } from '../../contract/line-progress.ts'
import { sha256 } from '../../core/ids.ts'
import { Refusal } from '../../core/refusal.ts'
import { conditionsOf } from '../../factors/conditions.ts'
import type { Factor } from '../../factors/verdict.ts'
import { emergencyFor } from '../approvals/broken-glass.ts'
import { findBallot, ofPerson } from '../approvals/ballots.ts'
import { readRowTexts } from '../approvals/batch-list.ts'
import { isGenuine } from '../approvals/genuine.ts'
import { grantOffer } from '../approvals/grants.ts'
import { isMuted, readMutes } from '../approvals/mutes.ts'
import { poolOf, toLineRecords } from '../approvals/lines.ts'
import type { ApprovalRow, BallotRow } from '../approvals/rows.ts'
import { toSubjectRecord, encodedContexts, findApproval, selectApprovals } from '../approvals/record.ts'
import { alreadyEnded } from '../approvals/posted-decision.ts'
import { originOf } from '../approvals/requester.ts'
import type { HandlerOf, Outside } from '../call/call.ts'
import { type Caller, requirePerson, sessionOver, type SignedIn } from '../call/caller.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { type Member, organizationRow } from '../call/tenant.ts'
import { inboxTopic } from '../call/signals/signals.ts'
import { waitFor } from '../call/signals/wait.ts'
import { withRequested } from '../policy/factor-settings.ts'
import { readEarlierDenials } from './earlier-denials.ts'
import { isSessionOpen } from './session.ts'
import { readSession } from './sign-in.ts'
import { readClosed } from './standing.ts'
import { readSurroundings } from './surroundings.ts'

type Requests = RowData<'listSessions'>['sessions'][number]['requests']
type Pending = Requests[number]

/** A request that waits for a person, with their ballot. */
type Asked = { row: ApprovalRow; ballot: BallotRow }

const readPending = ({ storage, keyring }: Service, { org_id, user_id }: Member): Promise<Asked[]> =>
  storage.read(async (db) => {
    const rows = await selectApprovals(db, { orgId: org_id })
      .innerJoin('ballots as b', 'b.request_id', 'a.request_id')
      .where('b.user_id', '=', user_id)
      .where('b.status', '=', 'pending')
      .where(ofPerson('b'))
      .where('a.status', '=', 'pending')
      .where('a.expires_at', '>', storage.now())
      .orderBy('a.id')
      .execute()
    const asked: Asked[] = []
    for (const row of rows) {
      const ballot = await findBallot(db, row, user_id)
      // What another program changed is not shown: nobody must read one thing and sign another.
      if (isGenuine(row, { keyring }) && keyring.holds('ballots', ballot)) asked.push({ row, ballot })
    }
    return asked
  })

type Details = Pick<
  Pending,
  'conditions' | 'origin' | 'deny_check' | 'earlier_denial' | 'break_glass' | 'reported' | 'grant'
>

/** Who of those who are asked has muted the requester, the reader first: nobody then allows it anything further. */
const reportOf = (
  row: ApprovalRow,
  mutes: Awaited<ReturnType<typeof readMutes>>,
  reader: number,
): Pick<Pending, 'reported'> | undefined => {
  const reporters = toLineRecords(row)
    .flatMap(({ people }) => people)
    .filter(({ user_id }) =>
      isMuted(
        mutes.filter((one) => String(one.user_id) === user_id),
        row,
      ),
    )
  const own = reporters.find(({ user_id }) => user_id === String(reader))
  const { name } = own ?? reporters[0] ?? {}
  return name === undefined ? undefined : { reported: { name, ...(own && { own: true as const }) } }
}

/** What a decision about each request is checked against, as of now, and where the request came from. */
const readDetails = async (
  asked: readonly Asked[],
  { org_id, user_id, device_id }: SignedIn,
  { service, ip }: Outside,
): Promise<Details[]> => {
  if (asked.length === 0) return []
  const rules = await service.factorsFor(org_id, user_id)
  const [at, address] = [service.storage.now(), ip?.()]
  const digests = asked.map(({ row }) => row.subject_digest)
  const { policy, denials, emergencies, mutes } = await service.storage.read(async (db) => ({
    policy: (await organizationRow(db, org_id)).policy,
    denials: await readEarlierDenials(
      { db, now: at, keyring: service.keyring },
      { org_id, user_id },
      digests,
    ),
    mutes: await readMutes(
      db,
      { org_id, user_id: [...new Set(asked.flatMap(({ row }) => poolOf(row)))] },
      at,
    ),
    emergencies: await Promise.all(asked.map(({ row }) => emergencyFor(db, row))),
  }))
  const evidence = {
    at,
    user_id,
    ...(address !== undefined && { ip: address }),
    device: { id: device_id, registered_to: user_id, revoked: false },
    biometric: { user_verified: true },
  }
  return asked.map(({ row }, i) => ({
    conditions: conditionsOf(withRequested(rules, JSON.parse(row.factors) as Factor[]), evidence),
    origin: originOf(row, rules.ipAllow),
    deny_check: policy.deny_check ?? 'verification',
    earlier_denial: denials.get(row.subject_digest) ?? null,
    ...(reportOf(row, mutes, user_id) ?? grantOffer(row)),
    ...emergencies[i],
  }))
}

const toPending = ({ row, ballot }: Asked, now: string, details: Details): Pending => ({
  request_id: row.request_id,
  action: row.action,
  reason: row.reason,
  requester: row.requester,
  verified_as: row.verified_as,
  ...(ballot.first_asked_by !== null && { first_time: true as const }),
  subject: toSubjectRecord(row),
  factors: JSON.parse(row.factors) as Pending['factors'],
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  expires_in_ms: Date.parse(row.expires_at) - Date.parse(now),
  number_required: row.number !== null,
  number_missed: ballot.number_tries > 0,
  contexts: encodedContexts(row, ballot),
  lines: toLineRecords(row),
  progress: progressFor(String(ballot.user_id), toLineRecords(row)),
  ...details,
})

type Around = Awaited<ReturnType<typeof readSurroundings>>

/** The pending requests of one session, and its surroundings. */
type Read = { person: SignedIn; asked: Asked[]; around: Around }

const toRequests = async ({ person, asked }: Read, now: string, outside: Outside): Promise<Requests> => {
  const details = await readDetails(asked, person, outside)
  return asked.map((one, i) => toPending(one, now, details[i]!))
}

const stateOf = ({ asked, around }: Read): string =>
  [around.state, ...asked.map(({ row }) => `${row.request_id} ${row.answers ?? ''}`)].join(' ')

/** Shorter than the state of all; changes with it. */
const markOf = (all: readonly Read[]): string =>
  sha256(all.map((one) => `${one.person.session_id}: ${stateOf(one)}`).join('\n')).slice(0, 32)

/**
 * Returns the pending requests of these sessions once their mark differs from `seen`, or after `wait_s`. Leaves out a session
 * that has ended; fails with 401 once all have.
 */
const readOrWait = async (
  { wait_s = 0, seen }: RowInput<'listSessions'>,
  people: readonly SignedIn[],
  outside: Outside,
) => {
  const { service } = outside
  const { storage, signals } = service
  const readOne = async (person: SignedIn): Promise<Read[]> => {
    const asked = await readPending(service, person)
    const around = await storage.read((db) =>
      readSurroundings({ db, keyring: service.keyring, now: storage.now() }, person),
    )
    return (await isSessionOpen(service, person)) ? [{ person, asked, around }] : []
  }
  const wait = {
    topics: people.map(inboxTopic),
    seconds: wait_s,
    signal: outside.signal?.(),
    limit: { what: 'session' as const, ids: people.map(({ session_id }) => session_id) },
  }
  const found = await waitFor(signals, wait, async () => {
    const all = (await Promise.all(people.map(readOne))).flat()
    if (all.length === 0) throw sessionOver()
    const mark = markOf(all)
    const now = storage.now()
    const lives = all.flatMap(({ asked }) =>
      asked.map(({ row }) => Date.parse(row.expires_at) - Date.parse(now)),
    )
    return { value: { mark, all, now }, done: mark !== seen, mayChangeInMs: Math.min(...lives) }
  })
  const shown = found.all.map(async (one) => ({
    person: one.person,
    around: one.around,
    requests: await toRequests(one, found.now, outside),
  }))
  return { mark: found.mark, all: await Promise.all(shown) }
}

/** For whoever is asked; a 404 for everybody else. */
export const listRequestRows: HandlerOf<'listRequestRows'> = async ({ request_id, from = 0 }, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const request = await findApproval(call.db, request_id, { orgId: org_id })
  await findBallot(call.db, request, user_id)
  if (request.status !== 'pending') throw alreadyEnded(request)
  return readRowTexts(call, request, from)
}

const endedSince = (error: unknown): undefined => {
  if (error instanceof Refusal && error.status === 401) return undefined
  throw error
}

const sessionsOf = ({ sessions, person, orgId }: Caller): readonly SignedIn[] => {
  if (sessions) return sessions
  return person && orgId !== null ? [{ ...person, org_id: orgId }] : []
}

/** All that the page needs to start, in one answer: each session of the browser and its pending requests. */
export const listSessions: HandlerOf<'listSessions'> = {
  before: async (input, outside) => {
    const people = sessionsOf(outside.caller)
    const found = people.length > 0 ? await readOrWait(input, people, outside).catch(endedSince) : undefined
    // No refusal: a browser that is not signed in asks, too.
    const { mark, all } = found ?? { mark: '', all: [] }
    const organizations = all.map(({ person }) => person.org_id)
    const { cookies = [] } = outside.caller
    const others = cookies.filter(({ org_id }) => !organizations.includes(org_id))
    const closed = await readClosed(outside.service, others)
    return async (call) => {
      const sessions = []
      for (const { person, around, requests } of all) {
        const session = await readSession(call, person.device_id, organizations).catch(endedSince)
        const { state: _, ...waiting } = around
        if (session) sessions.push({ ...session, requests, ...waiting })
      }
      return { mark, sessions, closed }
    }
  },
}
