import { requireAction } from '../call/actions.ts'
import { invalid, notFound } from '../../core/refusal.ts'
import { type AuditHead, genesisHash } from '../../receipt/chain.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { actorOfKey, actorOnTerminal } from '../call/caller.ts'
import type { Service } from '../call/service.ts'
import { byTime, endOfReach } from '../call/pagination.ts'
import { callingIn } from '../keys/rows.ts'
import { reachOrganization } from '../call/tenant.ts'
import { findAlteredRows } from './altered-rows.ts'

const toRecord = <Row extends { changes: string; row_mac: unknown }>(row: Row) => {
  const { row_mac: _, ...shown } = row
  return { ...shown, changes: JSON.parse(row.changes) as string[] }
}

const lastRow = ({ db }: Pick<Call, 'db'>, orgId: number) =>
  db
    .selectFrom('audit')
    .where('org_id', '=', orgId)
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The id of a chain: an organization's key reaches its own only, an operator also those of deleted organizations. */
export const reachChain = async (
  call: Pick<Call, 'db' | 'caller'>,
  org_id: number | undefined,
): Promise<number> => {
  const orgId = org_id ?? call.caller.orgId ?? 0
  if (call.caller.orgId !== null && call.caller.orgId !== orgId) throw notFound('Organization')
  if (orgId !== 0 && !(await lastRow(call, orgId))) await reachOrganization(call, orgId)
  return orgId
}

/** A person on whatever device or terminal. */
const isPerson = (actor = ''): boolean => /^user:\d{1,15}$/.test(actor)

/** The names of an actor in the audit: the name of a key means each of its ids. Throws 422 for what names nobody. */
const actorNames = async ({ db }: Call, orgId: number, actor: string): Promise<string[]> => {
  const keys = await db
    .selectFrom('api_keys')
    .where('name', '=', actor)
    .where(callingIn(orgId))
    .select(['id', 'owner_user_id'])
    .execute()
  if (keys.length === 0) {
    await db
      .selectFrom('audit')
      .where('org_id', '=', orgId)
      .where('actor', '=', actor)
      .select('seq')
      .limit(1)
      .executeTakeFirstOrThrow(() =>
        invalid(
          'actor',
          `names nobody who did something here: "${actor}"`,
          'A person is user:7, as svc user list shows the id; any other actor is the name of a key',
        ),
      )
    return [actor]
  }
  return [
    ...keys.map(({ id }) => actorOfKey(actor, id)),
    ...keys.flatMap(({ id, owner_user_id: owner }) => (owner === null ? [] : actorOnTerminal(owner, id))),
  ]
}

/** Merges the rows of several queries into one page. */
const merge = <Row extends { seq: number; at: string }>(lists: Row[][], { limit }: Call['page']): Row[] =>
  lists
    .flat()
    .toSorted((a, b) => b.at.localeCompare(a.at) || b.seq - a.seq)
    .slice(0, limit + 1)

export const listAlteredRows: HandlerOf<'listAlteredRows'> = {
  before: async ({ org_id }, { service, caller }) => {
    if (org_id !== undefined) await service.storage.read((db) => reachOrganization({ db, caller }, org_id))
    const rows = await findAlteredRows(service, org_id ?? caller.orgId ?? undefined)
    return async () => rows
  },
}

const columns = { key: 'seq', at: 'at' }

export const listAudit: HandlerOf<'listAudit'> = async (
  { org_id, actor, action, subject, ...span },
  call,
) => {
  const orgId = await reachChain(call, org_id)
  if (action !== undefined) requireAction(action)
  const all = call.db.selectFrom('audit').where('org_id', '=', orgId)
  const ofPerson = isPerson(actor)
  const filters = [actor, action, subject].filter((one) => one !== undefined)
  // There is an index for each filter, but not for several of them, nor for the names of a person in the order of time.
  const end = filters.length > 1 || ofPerson ? await endOfReach(all, columns, span, call.page) : undefined
  const query = all
    .$if(action !== undefined, (some) => some.where('action', '=', action!))
    .$if(subject !== undefined, (some) => some.where('subject', '=', subject!))
    .$if(ofPerson, (some) =>
      some.where(({ eb, or, and }) =>
        or([
          eb('actor', '=', actor!),
          and([eb('actor', '>=', `${actor} (`), eb('actor', '<', `${actor} )`)]),
        ]),
      ),
    )
    .selectAll()
  const names = actor === undefined || ofPerson ? [undefined] : await actorNames(call, orgId, actor)
  // One query for each name, so that each one uses the index.
  const found = await Promise.all(
    names.map((name) =>
      byTime(
        query.$if(name !== undefined, (some) => some.where('actor', '=', name!)),
        columns,
        span,
        call.page,
        end,
      ).execute(),
    ),
  )
  const rows = found.length === 1 ? found[0]! : merge(found, call.page)
  return call.pagedByTime(rows, ({ seq, at }) => ({ key: seq, at }), end).map(toRecord)
}

/** A head, with a statement of it that the service signs: organization, row, hash, time and issuer. */
export const signHead = async (
  { keyring, publicUrl }: Pick<Service, 'keyring' | 'publicUrl'>,
  head: AuditHead,
  at: string,
): Promise<AuditHead & { jws: string }> => ({
  ...head,
  jws: await keyring.sign({ ...head, at, iss: publicUrl }, 'audit-head+jwt'),
})

export const getAuditHead: HandlerOf<'getAuditHead'> = async ({ org_id }, call) => {
  const orgId = await reachChain(call, org_id)
  const { seq, hash } = (await lastRow(call, orgId)) ?? { seq: 0, hash: genesisHash }
  return signHead(call.service, { org_id: orgId, seq, hash }, call.now)
}
