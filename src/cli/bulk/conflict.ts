import type { SvcError } from '../../core/errors.ts'

/** What a row wants to add is there already. Other services have other codes for it, or none. */
export const isConflict = ({ code, http_status }: SvcError): boolean =>
  code === 'name_exists' || (http_status === 409 && code !== 'idempotency_key_reused')
