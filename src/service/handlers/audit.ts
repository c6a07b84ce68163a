import type { audit } from '../../contract/audit.ts'
import type { Handlers } from '../call/call.ts'
import { getAuditHead, listAlteredRows, listAudit } from '../custody/audit-log.ts'

export const auditHandlers: Handlers<typeof audit> = {
  listAlteredRows,
  listAudit,
  getAuditHead,
}
