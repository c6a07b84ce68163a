import * as z from 'zod/mini'
import { operations } from './declaration.ts'
import { org_id, paging, sentEnrollment, user_id, userRecord } from './records.ts'
import { userColumns } from './user.ts'

const member = { org_id, user_id }

export const pendingUser = operations({
  listPendingUsers: {
    route: 'GET /organization/{org_id}/pending/users',
    cli: 'user pending list',
    scope: 'read',
    cacheable: true,
    summary: 'List the users who are waiting to be accepted',
    message: 'Pending users',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(userRecord),
    columns: userColumns,
  },
  acceptUser: {
    route: 'POST /organization/{org_id}/user/{user_id}/accept',
    cli: 'user pending accept',
    scope: 'people',
    summary: 'Accept a pending user and send them the link that registers their phone',
    message: 'User accepted',
    example: '7 --org acme',
    input: z.strictObject(member),
    data: z.extend(userRecord, { enrollment: sentEnrollment }),
  },
  rejectUser: {
    route: 'POST /organization/{org_id}/user/{user_id}/reject',
    cli: 'user pending reject',
    effect: 'decides',
    scope: 'people',
    summary: 'Reject a pending user',
    message: 'User rejected',
    example: '7 --org acme --yes',
    input: z.strictObject(member),
    data: userRecord,
  },
  holdUser: {
    route: 'POST /organization/{org_id}/user/{user_id}/pending',
    cli: 'user pending hold',
    effect: 'decides',
    scope: 'people',
    summary: 'Put an active user back on hold',
    message: 'User is pending',
    example: '7 --org acme --yes',
    input: z.strictObject(member),
    data: userRecord,
  },
})
