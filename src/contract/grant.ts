import * as z from 'zod/mini'
import { operations } from './declaration.ts'
import { chosen, id, line, positive } from './field.ts'
import { org_id, time } from './records.ts'

// Grants: an approver allowed what they approved again, for a while and for the same key. Under /svc/v1. spec: not shown

/** What an approver can allow with an approval, as they sign it. */
export const grantOffer = z.strictObject({
  free: chosen(
    z.array(z.string()),
    'What may differ, by one plain word: of a command the places of words, of a tool call the names of arguments',
  ),
  seconds: chosen(positive, 'For how long'),
  uses: chosen(positive, 'How often'),
})

export const grantingRequest = chosen(line(64), 'Request with which it was granted', {
  example: 'apr_3mYk8wQZ',
})

export const grantRecord = z.looseObject({
  request_id: grantingRequest,
  org_id: chosen(positive, 'Organization id'),
  user_id: chosen(id, 'User who granted it'),
  key_id: chosen(id, 'Key that can use it'),
  credential: chosen(z.string(), 'Name of the key or agent (verified)'),
  what: chosen(z.string(), 'What was approved then'),
  varying: chosen(z.array(z.string()), 'What may differ, by one plain word; nothing if empty'),
  used: chosen(z.int(), 'How often it was used'),
  uses: chosen(positive, 'How often it can be used'),
  ends_at: chosen(time, 'When it ends'),
})

export const grant = operations({
  listGrants: {
    route: 'GET /svc/v1/organizations/{org_id}/grants',
    cli: 'grant list',
    scope: ['ask', 'read'],
    summary:
      'List what approvers allowed again and that has not ended; without the scope read, that of the key',
    message: 'Grants',
    example: '--org acme',
    input: z.strictObject({ org_id }),
    data: z.array(grantRecord),
    columns: ['request_id', 'user_id', 'credential', 'what', 'varying', 'used', 'uses', 'ends_at'],
    wide: ['user_id', 'credential'],
    folded: ['uses'],
  },
  revokeGrant: {
    route: 'DELETE /svc/v1/organizations/{org_id}/grants/{request_id}',
    cli: 'grant revoke',
    args: ['request_id'],
    scope: ['ask', 'people'],
    summary:
      'End a grant, with its approvals that were not used yet; without the scope people, one of the key',
    message: 'Grant revoked',
    example: 'apr_3mYk8wQZ --org acme --yes',
    input: z.strictObject({ org_id, request_id: grantingRequest }),
  },
})
