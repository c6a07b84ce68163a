import type { SvcError } from '../../core/errors.ts'

const otherConflicts = new Set(['idempotency_key_reused', 'quota_exceeded'])

/** What a row wants to add is there already. Other services have other codes for it, or none. */
export const isConflict = ({ code, http_status }: SvcError): boolean =>
  code === 'name_exists' || (http_status === 409 && !otherConflicts.has(code))
