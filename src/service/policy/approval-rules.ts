import { isDeepStrictEqual } from 'node:util'
import canonicalize from 'canonicalize'
import { sql } from 'kysely'
import type { Operation } from '../../contract/operation.ts'
import type { ApprovalRule, Policy } from '../../contract/policy.ts'
import { type OperationId, table } from '../../contract/table.ts'
import { sha256 } from '../../core/ids.ts'
import { nearest } from '../../core/nearest.ts'
import { invalid } from '../../core/refusal.ts'
import type { Call, Requirement } from '../call/call.ts'
import { isOperator } from '../call/caller.ts'
import { rowOfId } from '../call/row-ids.ts'
import { statement } from '../storage/statement.ts'

// The policy `require_approval`: calls that a person must approve before the service runs them.

/** Reactions to an incident never wait for an approval. */
const reactions = new Set<OperationId>(['revokeDevice', 'refuseDevice', 'revokeKey'])

/** Requests and decisions cannot wait for an approval either, and reads change nothing. */
const isCoverable = (id: OperationId): boolean => {
  const { effect, open, session, scope = [] }: Operation = table[id]
  const asks = scope === 'ask' || scope.includes('ask')
  return effect !== 'read' && !open && !session && !asks && !reactions.has(id)
}

const coverable = (Object.keys(table) as OperationId[]).filter(isCoverable)
const commandOf = (id: OperationId): string => table[id].cli

const covers = (listed: string, id: OperationId): boolean =>
  commandOf(id) === listed || commandOf(id).startsWith(`${listed} `)

const covered = ({ operations }: ApprovalRule): OperationId[] =>
  coverable.filter((id) => operations.some((listed) => covers(listed, id)))

const suggestions = new Set(coverable.flatMap((id) => [commandOf(id), commandOf(id).split(' ')[0]!]))

const refuseUnknown = (rules: readonly ApprovalRule[]): void => {
  for (const [at, { operations }] of rules.entries())
    for (const [i, listed] of operations.entries()) {
      if (coverable.some((id) => covers(listed, id))) continue
      const near = nearest(listed, [...suggestions])
      throw invalid(
        `policy.require_approval[${at}].operations[${i}]`,
        `is not a command that can require an approval: "${listed}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
        'List commands that change something, such as "geofence delete", or a group, such as geofence',
      )
    }
}

/** At most one rule covers a call, so that it is clear who approves it. */
const refuseOverlap = (rules: readonly ApprovalRule[]): void => {
  const seen = new Set<OperationId>()
  for (const [at, rule] of rules.entries())
    for (const id of covered(rule)) {
      if (seen.has(id))
        throw invalid(
          `policy.require_approval[${at}].operations`,
          `covers "${commandOf(id)}", which an earlier rule already covers`,
          'Let one rule cover each command',
        )
      seen.add(id)
    }
}

export const checkRules = (rules: readonly ApprovalRule[] = []): void => {
  refuseUnknown(rules)
  refuseOverlap(rules)
}

const readPolicyWithRules = statement((db, { orgId }: { orgId: number }) =>
  db
    .selectFrom('organizations')
    .where('id', '=', orgId)
    .where('policy', 'like', sql.lit('%"require_approval"%'))
    .select('policy'),
)

const readRules = async (
  { db, preconditions }: Pick<Call, 'db' | 'preconditions'>,
  orgId: number,
): Promise<ApprovalRule[]> => {
  const policy =
    preconditions?.orgId === orgId
      ? preconditions.policyWithRules
      : (await readPolicyWithRules(db, { orgId })).rows[0]?.policy
  return policy ? ((JSON.parse(policy) as Policy).require_approval ?? []) : []
}

/** What a rule of the policy requires: one of its people. */
const requirementOf = (orgId: number, rule: ApprovalRule): Requirement => {
  const name = 'require_approval'
  const line = { members: rule.approvers.map(rowOfId), need: 1, group: null, rules: [name] }
  return {
    orgId,
    lines: [{ ...line, separated: true }],
    rules: [{ name, digest: sha256(canonicalize(rule)!) }],
  }
}

/** Who must approve this call in this organization; undefined if no rule covers it. */
export const findRequirement = async (
  call: Pick<Call, 'db' | 'preconditions'>,
  orgId: number,
  id: OperationId,
): Promise<Requirement | undefined> => {
  if (!isCoverable(id)) return undefined
  const rule = (await readRules(call, orgId)).find((one) => covered(one).includes(id))
  return rule && requirementOf(orgId, rule)
}

/**
 * Demands the approvals for a call that changes or removes the rules themselves: the one that the call requires, and that of
 * every rule that it loosens. The operator requires none, so that an organization cannot lock itself out for good.
 */
export const demandForRules = async (
  call: Call,
  orgId: number,
  id: 'updateOrganization' | 'deleteOrganization',
  after: readonly ApprovalRule[] | undefined,
): Promise<void> => {
  if (isOperator(call.caller)) return
  const before = await readRules(call, orgId)
  const loosened =
    after === undefined ? [] : before.filter((rule) => !after.some((one) => isDeepStrictEqual(one, rule)))
  for (const rule of new Set([...before.filter((one) => covered(one).includes(id)), ...loosened]))
    call.demandApproval(requirementOf(orgId, rule))
}
