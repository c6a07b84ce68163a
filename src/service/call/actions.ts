import { type OperationId, table } from '../../contract/table.ts'
import { invalid } from '../../core/refusal.ts'
import { nearest } from '../../core/nearest.ts'

/** What the service does by itself. */
const serviceActions = [
  'expireApproval',
  'clearApprovals',
  'activateDevice',
  'connectAgent',
  'disconnectAgent',
  'stopWebhook',
  'rotateSigningKey',
  'signAuditHead',
  'resetOperatorKey',
  'rotateMasterKey',
  'settleRestored',
] as const

/** What the audit names: an operation, or one of these. */
export type Action = OperationId | (typeof serviceActions)[number]

/** Throws 422 with what was meant, which may be the command of an operation. */
export const requireAction = (typed: string): void => {
  const ids = Object.keys(table) as OperationId[]
  const all: string[] = [...ids, ...serviceActions]
  if (all.includes(typed)) return
  const meant = ids.find((id) => table[id].cli === typed) ?? nearest(typed, all)
  throw invalid(
    'action',
    `must be an action as the list shows it, not "${typed}"${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  )
}
