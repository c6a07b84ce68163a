import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Operation } from '../../contract/operation.ts'
import type { ApprovalRule, Policy } from '../../contract/policy.ts'
import { type OperationId, table } from '../../contract/table.ts'
import { nearest } from '../../core/nearest.ts'
import { invalid } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { isOperator } from '../call/caller.ts'
import { rowOfId } from '../call/row-ids.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'

// Which calls of an organization a person approves before the service carries them out (`require_approval`).

/** What a person does to react is never held up: nobody may be locked out of it. */
const reactions = new Set<OperationId>(['revokeDevice', 'refuseDevice', 'revokeKey'])

/** Asking and deciding cannot wait for an approval either, and what is read changes nothing. */
const mayBeCovered = (id: OperationId): boolean => {
  const { effect, open, session, scope = [] }: Operation = table[id]
  const asks = scope === 'ask' || scope.includes('ask')
  return effect !== 'read' && !open && !session && !asks && !reactions.has(id)
}

const coverable = (Object.keys(table) as OperationId[]).filter(mayBeCovered)
const wordsOf = (id: OperationId): string => table[id].cli

const covers = (listed: string, id: OperationId): boolean =>
  wordsOf(id) === listed || wordsOf(id).startsWith(`${listed} `)

const covered = ({ operations }: ApprovalRule): OperationId[] =>
  coverable.filter((id) => operations.some((listed) => covers(listed, id)))

const groups = new Set(coverable.flatMap((id) => [wordsOf(id), wordsOf(id).split(' ')[0]!]))

const refuseUnknown = (rules: readonly ApprovalRule[]): void => {
  for (const [at, { operations }] of rules.entries())
    for (const [i, listed] of operations.entries()) {
      if (coverable.some((id) => covers(listed, id))) continue
      const near = nearest(listed, [...groups])
      throw invalid(
        `policy.require_approval[${at}].operations[${i}]`,
        `is not a command that can require an approval: "${listed}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
        'List commands that change something, such as "geofence delete", or a group, such as geofence',
      )
    }
}

/** One call has one answer to "who approves this?". */
const refuseTwice = (rules: readonly ApprovalRule[]): void => {
  const seen = new Set<OperationId>()
  for (const [at, rule] of rules.entries())
    for (const id of covered(rule)) {
      if (seen.has(id))
        throw invalid(
          `policy.require_approval[${at}].operations`,
          `covers "${wordsOf(id)}", which an earlier rule covers already`,
          'Let one rule cover each command',
        )
      seen.add(id)
    }
}

/** Fails with 422 where a rule names what cannot be covered. */
export const checkRules = (rules: readonly ApprovalRule[] = []): void => {
  refuseUnknown(rules)
  refuseTwice(rules)
}

const readPolicyWithRules = statement((db, { orgId }: { orgId: number }) =>
  db
    .selectFrom('organizations')
    .where('id', '=', orgId)
    .where('policy', 'like', sql.lit('%"require_approval"%'))
    .select('policy'),
)

const readRules = async (db: Db, orgId: number): Promise<ApprovalRule[]> => {
  const [row] = (await readPolicyWithRules(db, { orgId })).rows
  return row ? ((JSON.parse(row.policy) as Policy).require_approval ?? []) : []
}

/** Users of whom one must approve this call in this organization; undefined where nobody must. */
export const approversOf = async (db: Db, orgId: number, id: OperationId): Promise<number[] | undefined> => {
  if (!mayBeCovered(id)) return undefined
  const rule = (await readRules(db, orgId)).find((one) => covered(one).includes(id))
  return rule?.approvers.map(rowOfId)
}

/**
 * Demands what the rules say of a call that changes or removes the rules themselves: the approval that the call requires, and
 * that of every rule that would be loosened. The operator needs neither, so that nobody is locked out for good.
 */
export const demandForRules = async (
  call: Call,
  orgId: number,
  id: 'updateOrganization' | 'deleteOrganization',
  after: readonly ApprovalRule[] | undefined,
): Promise<void> => {
  if (isOperator(call.caller)) return
  const before = await readRules(call.db, orgId)
  const loosened =
    after === undefined ? [] : before.filter((rule) => !after.some((one) => isDeepStrictEqual(one, rule)))
  for (const rule of new Set([...before.filter((one) => covered(one).includes(id)), ...loosened]))
    call.demandApproval({ orgId, approvers: rule.approvers.map(rowOfId) })
}
