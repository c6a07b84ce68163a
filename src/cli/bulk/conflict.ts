import type { SvcError } from '../../core/errors.ts'

/** Services that tell no code say no more than 409. */
const codes = new Set(['user_exists', 'user_pending', 'name_exists', 'http_409'])

/** What a row wants to add is there already. */
export const isConflict = ({ code }: SvcError): boolean => codes.has(code)
