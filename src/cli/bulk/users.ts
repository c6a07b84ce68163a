import type { Client } from '../../client/client.ts'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { nationalNumber } from '../../factors/phone.ts'
import type { Item } from './check-rows.ts'
import type { Fields } from './read-file.ts'

export const conflictModes = ['fail', 'skip'] as const
export type ConflictMode = (typeof conflictModes)[number]

export type Outcome = 'created' | 'skipped'

const otherConflicts = new Set(['idempotency_key_reused', 'quota_exceeded'])

/** The user already exists. Third-party services have other codes for it, or none. */
export const isConflict = ({ code, http_status }: SvcError): boolean =>
  http_status === 409 && !otherConflicts.has(code)

/** The request body, with the phone number in two parts as in the specification. */
export const bodyOf = (input: Fields): Fields => {
  const phone = { mobile: String(input['mobile']), country_code: String(input['country_code']) }
  return { ...input, mobile: nationalNumber(phone) }
}

// The rows of a file are untyped; the service checks them.
const createUser: Operation = user.createUser

export const sendUser = async (
  { input }: Item,
  {
    client,
    org,
    mode,
    ...options
  }: { client: Client; org: number; mode: ConflictMode; signal: AbortSignal; approval: string | undefined },
): Promise<Outcome> => {
  try {
    await client.call(createUser, { orgId: org, ...bodyOf(input) }, options)
    return 'created'
  } catch (error) {
    if (error instanceof SvcError && isConflict(error) && mode === 'skip') return 'skipped'
    throw error
  }
}
