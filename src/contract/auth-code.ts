import * as z from 'zod/mini'
import { chosen, id, line, nullable, optional, positive, shown, whole } from './field.ts'
import { operations } from './declaration.ts'
import { moment, org_id, paging, time, times } from './records.ts'

export const authCodeRecord = z.looseObject({
  id: chosen(id, 'Auth code id'),
  org_id: chosen(positive, 'Organization id'),
  label: chosen(z.string(), 'Purpose'),
  hint: chosen(z.string(), 'Its last four characters'),
  uses_left: nullable(z.int(), 'Number of uses left; null for no limit'),
  expires_at: nullable(time, 'When it expires; null for never'),
  ...times,
})
export const newAuthCode = z.extend(authCodeRecord, {
  code: chosen(z.string(), 'The code itself, shown once', { secret: true }),
})
const uses = whole(1, 1_000_000, '1,000,000')

/** `otherwise`: what holds without it. */
const expiry = (otherwise = '') =>
  optional(moment, `When it expires${otherwise}`, { example: '2030-01-31T18:00:00Z', future: true })

export const authCode = operations({
  listAuthCodes: {
    route: 'GET /organization/{org_id}/get-org-auth-codes',
    cli: 'org auth-code list',
    scope: 'people',
    summary: 'List the auth codes that people join with',
    message: 'Auth codes',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(authCodeRecord),
    columns: ['id', 'label', 'hint', 'uses_left', 'expires_at'],
  },
  createAuthCode: {
    route: 'POST /organization/{org_id}/create/auth-code',
    cli: 'org auth-code create',
    scope: 'people',
    summary: 'Create an auth code; it is shown once',
    message: 'Auth code created',
    example: '--org acme --label "Berlin office" --uses 50',
    input: z.strictObject({
      org_id,
      label: chosen(line(120), 'Purpose', { example: 'Berlin office' }),
      uses: optional(uses, 'Number of uses; default: no limit', { example: 50 }),
      expires_at: expiry('; default: never'),
    }),
    data: newAuthCode,
  },
  updateAuthCode: {
    route: 'PUT /organization/{orgId}/update/auth-code/{authCodeId}',
    cli: 'org auth-code update',
    scope: 'people',
    summary: 'Update the label, the number of uses or the expiry of an auth code',
    message: 'Auth code updated',
    example: '3 --org acme --uses 10',
    input: z.strictObject({
      orgId: org_id,
      authCodeId: shown(id, 'Auth code id', { example: '3' }),
      label: optional(line(120), 'Purpose', { example: 'Berlin office' }),
      uses: optional(uses, 'Number of uses left', { example: 50 }),
      expires_at: expiry(),
    }),
    data: authCodeRecord,
  },
  deleteAuthCode: {
    route: 'DELETE /organization/{org_id}/delete/auth-code/{auth_code_id}',
    cli: 'org auth-code delete',
    scope: 'people',
    summary: 'Delete an auth code',
    message: 'Auth code deleted',
    example: '3 --org acme --yes',
    input: z.strictObject({ org_id, auth_code_id: shown(id, 'Auth code id', { example: '3' }) }),
  },
})
