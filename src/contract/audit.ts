import * as z from 'zod/mini'
import { chosen, line, positive } from './field.ts'
import { operations } from './operation.ts'
import { time, timeline } from './records.ts'

// The audit chain of an organization, over /svc/v1. spec: not shown

const chainOrg = chosen(
  z.optional(z.int('must be a whole number').check(z.gte(0, 'must be 0 or more'))),
  'Organization id; 0 is the chain of the service itself; a key of an organization means its own',
  { example: 1 },
)

/** Row `seq` of a chain: `hash` is SHA-256 of the RFC 8785 JSON of all the other fields. See `receipt/chain.ts`. */
export const auditRow = z.strictObject({
  org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
  seq: chosen(positive, 'Place in the chain, from 1'),
  at: chosen(time, 'When'),
  actor: chosen(z.string(), 'Who: the name and id of the key, or the service'),
  action: chosen(z.string(), 'What was done: the operation'),
  subject: chosen(z.string(), 'To what: user:7, geofence:12'),
  changes: chosen(z.array(z.string()), 'Names of the fields that were given'),
  request_id: chosen(z.string(), 'The request that did it'),
  prev_hash: chosen(z.string(), 'Hash of the row before, 64 zeros for the first'),
  hash: chosen(z.string(), 'Hash of this row'),
})
export type AuditRow = z.infer<typeof auditRow>

export const audit = operations({
  listAudit: {
    method: 'GET',
    path: '/svc/v1/audit',
    cli: 'audit list',
    effect: 'read',
    scope: 'read',
    summary: 'List the audit log of an organization, newest first',
    message: 'Audit',
    example: '--org acme --since 1d --action createUser',
    input: z.strictObject({
      org_id: chainOrg,
      actor: chosen(
        z.optional(line(200)),
        'Only what this key or person did: the name of a key, or an actor as the list shows it',
        { example: 'ci (key 3)' },
      ),
      action: chosen(z.optional(line(64)), 'Only this action, as the list shows it', {
        example: 'createUser',
      }),
      subject: chosen(z.optional(line(200)), 'Only what was done to this subject', { example: 'user:7' }),
      ...timeline,
    }),
    data: z.array(auditRow),
    columns: ['seq', 'at', 'actor', 'action', 'subject', 'changes'],
  },
  getAuditHead: {
    method: 'GET',
    path: '/svc/v1/audit/head',
    cli: 'audit head',
    effect: 'read',
    scope: 'read',
    summary: 'Show the signed head of the audit chain; a copy kept elsewhere reveals later changes',
    message: 'Audit head',
    example: '--org acme -o json > head.json',
    input: z.strictObject({ org_id: chainOrg }),
    data: z.looseObject({
      org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
      seq: chosen(z.int(), 'Rows in the chain'),
      hash: chosen(z.string(), 'Hash of the last row, 64 zeros when there is none'),
      jws: chosen(z.string(), 'The same, signed with a key of /.well-known/jwks.json'),
    }),
  },
  listAlteredRows: {
    method: 'GET',
    path: '/svc/v1/audit/altered',
    cli: 'audit altered',
    effect: 'read',
    scope: 'read',
    summary:
      'List devices, keys and users that another program changed in the store; the service does not use them',
    message: 'Altered rows',
    example: '--org acme',
    input: z.strictObject({
      org_id: chosen(z.optional(positive), 'Organization id; an operator key that leaves it out sees all', {
        example: 1,
      }),
    }),
    data: z.array(
      z.strictObject({
        org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
        kind: chosen(z.enum(['signing_key', 'api_key', 'device', 'user']), 'What it is'),
        id: chosen(z.string(), 'Its id; of a signing key its kid'),
      }),
    ),
    columns: ['org_id', 'kind', 'id'],
  },
})
