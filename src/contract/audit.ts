import * as z from 'zod/mini'
import { chainOrg } from './event.ts'
import { chosen, line, optional, positive } from './field.ts'
import { operations } from './declaration.ts'
import { time, timeline } from './records.ts'

// The audit chain of an organization, under /svc/v1. spec: not shown

/** Row `seq` of a chain: `hash` is SHA-256 of the RFC 8785 JSON of all the other fields. See `receipt/chain.ts`. */
export const auditRow = z.strictObject({
  org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
  seq: chosen(positive, 'Position in the chain, from 1'),
  at: chosen(time, 'When it was done'),
  actor: chosen(
    z.string(),
    'Who did it: user:7 with the device or the key of a terminal, the name and id of another key, or the service',
  ),
  action: chosen(z.string(), 'The operation'),
  subject: chosen(z.string(), 'What was changed: user:7, geofence:12'),
  changes: chosen(z.array(z.string()), 'Names of the fields that were set'),
  request_id: chosen(z.string(), 'Id of the request'),
  rules: chosen(z.int(), 'Changes of the rules and groups of the organization so far'),
  prev_hash: chosen(z.string(), 'Hash of the previous row; 64 zeros for the first'),
  hash: chosen(z.string(), 'Hash of this row'),
})
export type AuditRow = z.infer<typeof auditRow>

export const audit = operations({
  listAudit: {
    route: 'GET /svc/v1/audit',
    cli: 'audit list',
    scope: 'read',
    summary: 'List the audit log of an organization, newest first',
    message: 'Audit',
    example: '--org acme --since 1d --action createUser',
    input: z.strictObject({
      org_id: chainOrg,
      actor: optional(
        line(200),
        'Only rows of this actor: a person (user:7), the name of a key, or an actor as the list shows it',
        { example: 'ci (key 3)' },
      ),
      action: optional(line(64), 'Only rows of this action, as the list shows it', {
        example: 'createUser',
      }),
      subject: optional(line(200), 'Only rows about this subject', { example: 'user:7' }),
      ...timeline,
    }),
    data: z.array(auditRow),
    columns: ['seq', 'at', 'actor', 'action', 'subject', 'changes'],
    wide: ['changes'],
  },
  getAuditHead: {
    route: 'GET /svc/v1/audit/head',
    cli: 'audit head',
    scope: 'read',
    summary: 'Show the signed head of the audit chain; a copy stored elsewhere reveals later changes',
    message: 'Audit head',
    example: '--org acme -o json > head.json',
    input: z.strictObject({ org_id: chainOrg }),
    data: z.looseObject({
      org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
      seq: chosen(z.int(), 'Rows in the chain'),
      hash: chosen(z.string(), 'Hash of the last row; 64 zeros if there is none'),
      jws: chosen(z.string(), 'The head, signed with a key of /.well-known/jwks.json'),
    }),
  },
  listAlteredRows: {
    route: 'GET /svc/v1/audit/altered',
    cli: 'audit altered',
    scope: 'read',
    summary:
      'List approvals, devices, groups, keys, links and users that another program changed in the store; the service does not use them',
    message: 'Altered rows',
    example: '--org acme',
    input: z.strictObject({
      org_id: optional(positive, 'Organization id; without it, an operator key lists all', {
        example: 1,
      }),
    }),
    data: z.array(
      z.strictObject({
        org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
        kind: chosen(
          z.enum([
            'signing_key',
            'api_key',
            'device',
            'appointment',
            'absence',
            'group',
            'rule_head',
            'organization',
            'approval',
            'link',
            'verification',
            'refresh_token',
            'email_link',
            'registration',
            'account',
            'user',
          ]),
          'Kind of row',
        ),
        id: chosen(
          z.string(),
          'Id of the row; of a request or a verification, its request id; of a signing key, its kid; of an appointment, the user; of a rule_head, the organization',
        ),
      }),
    ),
    columns: ['org_id', 'kind', 'id'],
  },
})
