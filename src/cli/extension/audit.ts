import { audit } from '../../contract/audit.ts'
import { type Extensions, withExtras } from '../operation/operation-command.ts'

/** `decideApproval: denied`: an action with the state that it led to, because a narrow terminal leaves out the changes. */
const actionText = (action: unknown, { changes }: Record<string, unknown>): string => {
  const [field, state] = Array.isArray(changes) ? (changes as unknown[]) : []
  return field === 'status' && state !== undefined ? `${String(action)}: ${String(state)}` : String(action)
}

export const auditExtensions: Extensions = new Map([
  [audit.listAudit, withExtras(audit.listAudit, () => ({ texts: { action: actionText } }))],
])
