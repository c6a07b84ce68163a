import type { audit } from '../../contract/audit.ts'
import { genesisHash } from '../../receipt/chain.ts'
import type { Call, Handlers } from '../call.ts'
import { notFound } from '../refusal.ts'
import { inPage } from './page.ts'
import { reachOrganization } from './tenant.ts'

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

export const auditHandlers: Handlers<typeof audit> = {
  listAudit: async ({ org_id }, call) => {
    const orgId = await reachChain(call, org_id)
    const query = call.db.selectFrom('audit').where('org_id', '=', orgId).selectAll()
    return call.paged(await inPage(query, 'seq', call.page).execute(), (row) => row.seq).map(answered)
  },

  getAuditHead: async ({ org_id }, call) => {
    const orgId = await reachChain(call, org_id)
    const { seq, hash } = (await lastRow(call, orgId)) ?? { seq: 0, hash: genesisHash }
    const head = { org_id: orgId, seq, hash }
    return { ...head, jws: await call.keyring.sign({ ...head, at: call.now }, 'audit-head+jwt') }
  },
}
