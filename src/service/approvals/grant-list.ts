import type { RowData } from '../call/row-ids.ts'
import { notFound } from '../../core/refusal.ts'
import { freeNames } from '../../receipt/granted.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { readBook } from '../policy/group-rows.ts'
import type { StoredGrant } from '../policy/known-heads.ts'
import { endGrants, isLive, readTerms } from './grants.ts'
import { storedSubject } from './record.ts'

// The grants of an organization that have not ended.

type Shown = RowData<'listGrants'>

const toRecord = async (call: Call, org_id: number, grant: StoredGrant): Promise<Shown> => {
  const { request_id, user_id, key_id, used, uses, ends_at } = grant
  const row = await call.db
    .selectFrom('approvals')
    .where('request_id', '=', request_id)
    .where('org_id', '=', org_id)
    .selectAll()
    .executeTakeFirst()
  const subject = row && storedSubject(row)
  const terms = row && readTerms(row)
  // Its approver was deleted, and nothing can use it any more.
  if (!subject || !terms) return []
  const varying = freeNames(subject, terms.free)
  const credential = row.key_name
  return [
    {
      request_id,
      org_id,
      user_id,
      key_id,
      credential,
      what: summaryOf(subject),
      varying,
      used,
      uses,
      ends_at,
    },
  ]
}

/** The live grants that fit. */
export const readGrants = async (
  call: Call,
  org_id: number,
  isWanted: (grant: StoredGrant) => boolean,
): Promise<Shown> => {
  const { grants } = await readBook(call, org_id)
  const found = grants.filter((one) => isLive(one, call.now) && isWanted(one))
  return (await Promise.all(found.map((one) => toRecord(call, org_id, one)))).flat()
}

/** A key that may only ask sees and ends what it can use. */
const reaches = ({ caller }: Call, scope: 'read' | 'people'): ((grant: StoredGrant) => boolean) =>
  caller.scopes.has(scope) ? () => true : ({ key_id }) => key_id === caller.keyId

export const listGrants: HandlerOf<'listGrants'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  return readGrants(call, org_id, reaches(call, 'read'))
}

export const revokeGrant: HandlerOf<'revokeGrant'> = async ({ org_id, request_id }, call) => {
  await reachOrganization(call, org_id)
  const isOwn = reaches(call, 'people')
  const ended = await endGrants(call, org_id, (one) => one.request_id === request_id && isOwn(one))
  if (ended.length === 0) throw notFound('Grant')
  return undefined
}
