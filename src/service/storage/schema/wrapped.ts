import type { Tables } from '../schema.ts'

type Kept = { table: keyof Tables; column: string; by: readonly string[] }

/**
 * Every column with wrapped values. The context of a value is the name of the entry and the values of `by`, so that `rewrap`
 * finds it. A value of any other context does not compile.
 */
export const keptColumns = {
  signing_keys: { table: 'signing_keys', column: 'wrapped_jwk', by: ['kid'] },
  api_keys: { table: 'api_keys', column: 'wrapped_hash', by: ['prefix'] },
  idp: { table: 'idp_credentials', column: 'wrapped_secret', by: ['org_id'] },
  outbox: { table: 'outbox', column: 'wrapped', by: ['message_id'] },
  device_push: { table: 'device_push', column: 'wrapped', by: ['device_id', 'endpoint_hash'] },
  webhooks: { table: 'webhooks', column: 'wrapped', by: ['webhook_id'] },
  otp: { table: 'otps', column: 'wrapped_hash', by: ['org_id', 'mobile'] },
} as const satisfies Record<string, Kept>

/** Rows of `settings` whose value is wrapped; the context is the name. */
export const keptSettings = ['custody', 'vapid', 'erased_people'] as const

/** Wrapped values that clients keep: they expire after minutes, so a rotation ignores them. */
type Sent = 'approver challenge' | 'authorization request' | 'authorization code'

export type WrapContext = `${keyof typeof keptColumns}:${string}` | (typeof keptSettings)[number] | Sent
