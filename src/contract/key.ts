import * as z from 'zod/mini'
import { addedByKey, endedThings, with_added } from './added.ts'
import { chosen, id, line, nullable, optional, positive, seconds } from './field.ts'
import { operations } from './declaration.ts'
import { keyRecord, keySecret, moment, newKey, paging } from './records.ts'
import { grantMeanings, grants, scopes } from './scopes.ts'

// Named API keys, under /svc/v1. spec: not shown

// The approver sees the name as verified, so it must not look like another name or another field.
export const keyName = line(60).check(
  z.regex(
    /^[A-Za-z0-9][A-Za-z0-9 ,._@/+:-]*$/,
    'must contain only ASCII letters and digits, spaces and , . _ @ / + : -, and start with a letter or digit',
  ),
)

const createdKeys = chosen(
  z.array(keyRecord),
  'Active keys that it created, directly or through another key, which are revoked with it; at most 100',
)
const createdTotal = chosen(z.int(), 'Number of these keys')

const newestId = nullable(id, 'The newest secret of the key, if it works; null if the key has ended')

const keyId = chosen(id, 'Key id', { example: '2', flag: 'key-id' })

export const key = operations({
  whoAmI: {
    route: 'GET /svc/v1/whoami',
    cli: 'whoami',
    scope: scopes,
    cacheable: true,
    summary: 'Show the key in use and its organization',
    message: 'Key in use',
    data: z.looseObject({
      ...keyRecord.shape,
      organization: nullable(
        z.looseObject({
          id: chosen(positive, 'Organization id'),
          slug: chosen(z.string(), 'Slug of the organization'),
          name: chosen(z.string(), 'Name of the organization'),
        }),
        'Its organization; null for an operator key',
      ),
      service_version: chosen(z.string(), 'Version of the service, with the commit of its build'),
    }),
  },
  listKeys: {
    route: 'GET /svc/v1/keys',
    cli: 'key list',
    // A key with `ask` alone lists only the keys of its owner.
    scope: ['ask', 'keys'],
    cacheable: true,
    summary: 'List API keys without their secrets',
    message: 'Keys',
    input: z.strictObject({
      org_id: optional(positive, 'Only the keys of this organization', { example: 1 }),
      mine: optional(z.boolean(), 'Only the keys of the person who is signed in'),
      owner_user_id: optional(id, 'Only the keys that this user owns', { example: '7', flag: 'owner' }),
      ...paging,
    }),
    data: z.array(keyRecord),
    columns: [
      'id',
      'name',
      'org_id',
      'scopes',
      'owner_user_id',
      'created_by',
      'last_used_at',
      'owner_left_at',
      'expires_at',
      'revoked_at',
      'ended',
    ],
    wide: ['created_by', 'owner_user_id', 'org_id'],
  },
  getKey: {
    route: 'GET /svc/v1/keys/{id}',
    cli: 'key get',
    scope: 'keys',
    summary: 'Show a key and the keys that are revoked with it',
    message: 'Key',
    example: '2',
    input: z.strictObject({ id: keyId }),
    data: z.extend(keyRecord, {
      secrets: chosen(z.array(keySecret), 'Other secrets of the key that work'),
      newest_id: newestId,
      created_keys: createdKeys,
      created_keys_total: createdTotal,
      added: chosen(addedByKey, 'What it and the keys that it created added'),
    }),
  },
  createKey: {
    route: 'POST /svc/v1/keys',
    cli: 'key create',
    scope: 'keys',
    summary: 'Create an API key; it is shown once',
    message: 'Key created',
    example: '--name ci --org acme --can ask --expires 90d',
    input: z.strictObject({
      name: chosen(keyName, 'Name, as approvers and the audit log show it', { example: 'ci' }),
      org_id: optional(positive, 'Organization of the key; default: that of the key in use', {
        example: 1,
      }),
      scopes: chosen(
        z.array(z.enum(grants)).check(z.minLength(1, 'must contain at least one scope')),
        'What the key can do',
        { example: ['ask'], flag: 'can', meanings: grantMeanings },
      ),
      expires_at: optional(moment, 'When it expires; default: never', {
        example: '2030-01-31T18:00:00Z',
        flag: 'expires',
        future: true,
      }),
      owner_user_id: optional(id, 'User who owns the key', { example: '7', flag: 'owner' }),
    }),
    data: newKey,
  },
  rotateKey: {
    route: 'POST /svc/v1/keys/{id}/rotate',
    cli: 'key rotate',
    scope: 'keys',
    summary: 'Replace the secret of a key; older ones work until the overlap ends',
    message: 'Key rotated',
    example: '2 --overlap 3600',
    input: z.strictObject({
      id: keyId,
      overlap_s: optional(
        seconds(0, 2_592_000, '2592000 (30 days)'),
        'How long older secrets still work, in seconds; 0 ends them now; default: 86400',
        { example: 3600, flag: 'overlap' },
      ),
    }),
    data: z.extend(newKey, {
      older_secrets: chosen(z.array(keySecret), 'Older secrets of the key, and how long each still works'),
    }),
    folded: ['older_secrets'],
  },
  confirmKeyOwner: {
    route: 'POST /svc/v1/keys/{id}/confirm-owner',
    cli: 'key confirm-owner',
    scope: 'keys',
    summary: 'Let the owner of a key confirm on their phone that it is theirs',
    message: 'Owner confirmed',
    example: '2',
    input: z.strictObject({ id: keyId }),
    data: keyRecord,
  },
  revokeKey: {
    route: 'DELETE /svc/v1/keys/{id}',
    cli: 'key revoke',
    scope: 'keys',
    summary: 'Revoke a key; also the keys that it created, unless the secret was replaced',
    message: 'Key revoked',
    example: '2 --yes',
    input: z.strictObject({ id: keyId, with_added }),
    data: z.looseObject({
      id: keyId,
      ...endedThings,
      name: chosen(z.string(), 'Name of the key'),
      secrets: chosen(z.array(id), 'Other secrets of the key that were revoked with it'),
      created_keys: createdKeys,
      created_keys_total: createdTotal,
      ended_requests: chosen(z.int(), 'Pending requests that ended with it'),
      newest_id: newestId,
    }),
    columns: ['id', 'name', 'newest_id'],
  },
})
