import type { audit } from '../../contract/audit.ts'
import { notFound } from '../../core/refusal.ts'
import { genesisHash } from '../../receipt/chain.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { byTime } from '../call/page.ts'
import { reachOrganization } from '../call/tenant.ts'
import { findAlteredRows } from './altered-rows.ts'

const answered = <Row extends { changes: string }>(row: Row) => ({
  ...row,
  changes: JSON.parse(row.changes) as string[],
})

const lastRow = (call: Call, orgId: number) =>
  call.db
    .selectFrom('audit')
    .where('org_id', '=', orgId)
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The chain that is meant: an organization's key has its own only, an operator also those of deleted organizations. */
const reachChain = async (call: Call, given: number | undefined): Promise<number> => {
  const orgId = given ?? call.caller.orgId ?? 0
  if (call.caller.orgId !== null && call.caller.orgId !== orgId) throw notFound('Organization')
  if (orgId !== 0 && !(await lastRow(call, orgId))) await reachOrganization(call, orgId)
  return orgId
}

const columns = { key: 'seq', at: 'at' }

/** What an actor is called in the audit: each secret of a key by its own id. Several are asked for one by one, each along its index. */
const actorsOf = async ({ db }: Call, orgId: number, actor?: string): Promise<(string | undefined)[]> => {
  if (actor === undefined) return [undefined]
  const keys = await db
    .selectFrom('api_keys')
    .where('name', '=', actor)
    .where(({ eb, or }) => or([eb('org_id', '=', orgId), eb('org_id', 'is', null)]))
    .select('id')
    .execute()
  return keys.length === 0 ? [actor] : keys.map(({ id }) => `${actor} (key ${id})`)
}

type Placed = { seq: number; at: string }

/** Rows of several queries as if they were one. */
const inOrder = <Row extends Placed>(lists: Row[][], { limit, newer }: Call['page']): Row[] => {
  if (lists.length === 1) return lists[0]!
  const rows = lists
    .flat()
    .toSorted((a, b) => (newer ? a.seq - b.seq : b.at.localeCompare(a.at) || b.seq - a.seq))
  return limit === undefined ? rows : rows.slice(0, limit + 1)
}

export const listAlteredRows: HandlerOf<typeof audit.listAlteredRows> = {
  before: async ({ org_id }, { service, caller }) => {
    if (org_id !== undefined) await service.storage.read((db) => reachOrganization({ db, caller }, org_id))
    const rows = await findAlteredRows(service, org_id ?? caller.orgId ?? undefined)
    return async () => rows
  },
}

export const listAudit: HandlerOf<typeof audit.listAudit> = async (
  { org_id, actor, action, subject, ...span },
  call,
) => {
  const orgId = await reachChain(call, org_id)
  const query = call.db
    .selectFrom('audit')
    .where('org_id', '=', orgId)
    .$if(action !== undefined, (some) => some.where('action', '=', action!))
    .$if(subject !== undefined, (some) => some.where('subject', '=', subject!))
    .selectAll()
  const found = await Promise.all(
    (await actorsOf(call, orgId, actor)).map((one) =>
      byTime(
        query.$if(one !== undefined, (some) => some.where('actor', '=', one!)),
        columns,
        span,
        call.page,
      ).execute(),
    ),
  )
  return call.pagedByTime(inOrder(found, call.page), ({ seq, at }) => ({ key: seq, at })).map(answered)
}

export const getAuditHead: HandlerOf<typeof audit.getAuditHead> = async ({ org_id }, call) => {
  const orgId = await reachChain(call, org_id)
  const { seq, hash } = (await lastRow(call, orgId)) ?? { seq: 0, hash: genesisHash }
  const head = { org_id: orgId, seq, hash }
  return { ...head, jws: await call.keyring.sign({ ...head, at: call.now }, 'audit-head+jwt') }
}
