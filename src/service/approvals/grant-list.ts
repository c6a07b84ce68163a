import type { RowData } from '../call/row-ids.ts'
import { notFound } from '../../core/refusal.ts'
import { freeNames } from '../../receipt/granted.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { readGrants } from '../policy/group-rows.ts'
import type { StoredGrant } from '../policy/known-heads.ts'
import { isGenuine } from './genuine.ts'
import { endGrants, readTerms } from './grants.ts'
import { storedSubject } from './record.ts'
import type { ApprovalRow } from './rows.ts'

// The grants of an organization that have not ended.

type Shown = RowData<'listGrants'>

const toRecord = (row: ApprovalRow, grant: StoredGrant): Shown => {
  const { request_id, user_id, key_id, used, uses, ends_at } = grant
  const { org_id } = row
  const subject = storedSubject(row)
  const terms = readTerms(row)
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

/** A key that may only ask sees and ends what it can use. */
const reaches = ({ caller }: Call, scope: 'read' | 'people'): ((grant: StoredGrant) => boolean) =>
  caller.scopes.has(scope) ? () => true : ({ key_id }) => key_id === caller.keyId

/** These grants of an organization, as people read them. */
export const grantRecords = async (call: Call, org_id: number, grants: StoredGrant[]): Promise<Shown> => {
  const rows = await call.db
    .selectFrom('approvals')
    .where('request_id', 'in', ['', ...grants.map(({ request_id }) => request_id)])
    .where('org_id', '=', org_id)
    .selectAll()
    .execute()
  // One that another program changed can no longer be used.
  const genuine = rows.filter((row) => isGenuine(row, call))
  const requests = new Map(genuine.map((row) => [row.request_id, row]))
  return grants.flatMap((grant) => {
    const row = requests.get(grant.request_id)
    return row ? toRecord(row, grant) : []
  })
}

export const listGrants: HandlerOf<'listGrants'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  return grantRecords(call, org_id, (await readGrants(call, org_id)).filter(reaches(call, 'read')))
}

export const revokeGrant: HandlerOf<'revokeGrant'> = async ({ org_id, request_id }, call) => {
  await reachOrganization(call, org_id)
  const isOwn = reaches(call, 'people')
  const ended = await endGrants(call, org_id, (one) => one.request_id === request_id && isOwn(one))
  if (ended.length === 0)
    throw notFound('Grant', `svc grant list --org ${org_id} lists the grants that have not ended`)
  return undefined
}
