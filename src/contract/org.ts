import * as z from 'zod/mini'
import { chosen, id, line, positive, shown } from './field.ts'
import { operations } from './operation.ts'
import {
  country_code,
  email,
  keyRecord,
  mobile,
  newKey,
  org_id,
  moment,
  paging,
  policy,
  slug,
  time,
  times,
  userRecord,
} from './records.ts'

const recordFields = (mark: typeof shown) => ({
  id: chosen(positive, 'Organization id'),
  name: mark(z.string(), 'Name'),
  slug: mark(z.string(), 'Short name, accepted wherever an id is'),
  policy: chosen(policy, 'What the organization enforces'),
  ...times,
})
export const organizationRecord = z.looseObject(recordFields(chosen))
/** The specification shows `name` and `slug` of an organization as listed, and no other record. */
const listedOrganization = z.looseObject(recordFields(shown))

const naming = {
  name: chosen(line(120), 'Name', { example: 'Acme Corp' }),
  slug: chosen(z.optional(slug), 'Short name, accepted wherever an id is; default: made from the name', {
    example: 'acme',
  }),
  policy: chosen(z.optional(policy), 'What the organization enforces'),
}

const authCodeRecord = z.looseObject({
  id: chosen(id, 'Auth code id'),
  org_id: chosen(positive, 'Organization id'),
  label: chosen(z.string(), 'Purpose'),
  hint: chosen(z.string(), 'Its last four characters'),
  uses_left: chosen(z.nullable(z.int()), 'Number of uses left; null for no limit'),
  expires_at: chosen(z.nullable(time), 'When it expires; null for never'),
  ...times,
})
const newAuthCode = z.extend(authCodeRecord, {
  code: chosen(z.string(), 'The code itself, shown once', { secret: true }),
})
const uses = z
  .int('must be a whole number')
  .check(z.gte(1, 'must be 1 or more'), z.lte(1_000_000, 'must be 1,000,000 or less'))

const idpRecord = z.looseObject({
  provider: chosen(z.string(), 'Identity provider'),
  client_id: chosen(z.string(), 'Client id at the provider'),
  client_secret_set: chosen(z.boolean(), 'Whether a secret is stored; it is never shown'),
  updated_at: times.updated_at,
})

export const org = operations({
  listOrganizations: {
    method: 'GET',
    path: '/organizations',
    cli: 'org list',
    effect: 'read',
    summary: 'List organizations',
    message: 'Organizations',
    input: z.strictObject({ ...paging }),
    data: z.array(listedOrganization),
    columns: ['id', 'slug', 'name', 'created_at'],
  },
  getOrganization: {
    method: 'GET',
    path: '/organization/{orgIdOrSlug}',
    cli: 'org get',
    args: ['orgIdOrSlug'],
    effect: 'read',
    summary: 'Show one organization',
    message: 'Organization',
    example: 'acme',
    input: z.strictObject({
      orgIdOrSlug: shown(line(60), 'Organization id or slug', { example: 'acme' }),
    }),
    data: organizationRecord,
  },
  createOrganization: {
    method: 'POST',
    path: '/organization/create',
    cli: 'org create',
    effect: 'write',
    operator: true,
    summary: 'Create an organization',
    message: 'Organization created',
    example: '--name "Acme Corp" --slug acme',
    input: z.strictObject(naming),
    data: organizationRecord,
  },
  onboardOrganization: {
    method: 'POST',
    path: '/organization/create/onboarding',
    cli: 'org onboard',
    effect: 'write',
    operator: true,
    summary: 'Create an organization with its first admin, an auth code and an API key, in one step',
    message: 'Organization onboarded',
    example:
      '--name "Acme Corp" --first-name Ada --last-name Lovelace --email ada@acme.example --country-code +1 --mobile 2025550101',
    input: z.strictObject({
      ...naming,
      first_name: chosen(line(100), 'First name of the first admin', { example: 'Ada' }),
      last_name: chosen(line(100), 'Last name of the first admin', { example: 'Lovelace' }),
      email: chosen(email, 'E-mail address of the first admin', {
        example: 'ada@acme.example',
        personal: true,
      }),
      country_code: chosen(country_code, 'Dialing prefix of the first admin, with plus', { example: '+1' }),
      mobile: chosen(mobile, 'Mobile number of the first admin, national', {
        example: '2025550101',
        personal: true,
      }),
    }),
    data: z.looseObject({
      organization: chosen(organizationRecord, 'The organization'),
      admin: chosen(userRecord, 'Its first admin'),
      enrollment: chosen(
        z.looseObject({
          url: chosen(z.string(), 'One-use link that registers the phone of the admin', { secret: true }),
          expires_at: chosen(time, 'When the link expires'),
        }),
        'How the admin registers a phone',
      ),
      auth_code: chosen(newAuthCode, 'A first auth code'),
      api_key: chosen(newKey, 'A first API key of the organization'),
    }),
  },
  updateOrganization: {
    method: 'PUT',
    path: '/organization/{org_id}/update',
    cli: 'org update',
    args: ['org_id'],
    effect: 'write',
    summary: 'Update the name, slug or policy of an organization',
    message: 'Organization updated',
    example: 'acme --require-number --ip-allow 203.0.113.0/24',
    input: z.strictObject({ org_id, ...naming, name: z.optional(naming.name) }),
    data: organizationRecord,
  },
  deleteOrganization: {
    method: 'DELETE',
    path: '/organization/{org_id}/delete',
    cli: 'org delete',
    args: ['org_id'],
    effect: 'delete',
    summary: 'Delete an organization and everything that belongs to it; its audit log is kept',
    message: 'Organization deleted',
    example: 'acme --yes',
    input: z.strictObject({ org_id }),
  },
  getApiCredentials: {
    method: 'GET',
    path: '/organization/{org_id}/get-org-api-creds',
    cli: 'org creds get',
    effect: 'read',
    summary: 'Show the API keys, without their secrets, and the identity provider of an organization',
    message: 'API credentials',
    example: '--org acme',
    input: z.strictObject({ org_id }),
    data: z.looseObject({
      api_keys: chosen(z.array(keyRecord), 'Keys of the organization'),
      idp: chosen(z.nullable(idpRecord), 'Identity provider, null when none is set'),
    }),
  },
  setIdpCredentials: {
    method: 'POST',
    path: '/organization/{org_id}/idp-api-creds',
    cli: 'org creds set-idp',
    effect: 'write',
    summary: 'Save the API credentials of the identity provider',
    message: 'Identity provider credentials saved',
    example: '--org acme --provider okta --client-id 0oa1b2 --client-secret-file secret.txt',
    input: z.strictObject({
      org_id,
      provider: chosen(line(100), 'Identity provider', { example: 'okta' }),
      client_id: chosen(line(200), 'Client id at the provider', { example: '0oa1b2' }),
      client_secret: chosen(line(4096), 'Client secret at the provider', { example: 's3cret', secret: true }),
    }),
    data: idpRecord,
  },
  listAuthCodes: {
    method: 'GET',
    path: '/organization/{org_id}/get-org-auth-codes',
    cli: 'org auth-code list',
    effect: 'read',
    summary: 'List the auth codes that people join with',
    message: 'Auth codes',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(authCodeRecord),
    columns: ['id', 'label', 'hint', 'uses_left', 'expires_at'],
  },
  createAuthCode: {
    method: 'POST',
    path: '/organization/{org_id}/create/auth-code',
    cli: 'org auth-code create',
    effect: 'write',
    summary: 'Create an auth code; it is shown once',
    message: 'Auth code created',
    example: '--org acme --label "Berlin office" --uses 50',
    input: z.strictObject({
      org_id,
      label: chosen(line(120), 'Purpose', { example: 'Berlin office' }),
      uses: chosen(z.optional(uses), 'Number of uses; default: no limit', { example: 50 }),
      expires_at: chosen(z.optional(moment), 'When it expires; default: never', {
        example: '2030-01-31T18:00:00Z',
      }),
    }),
    data: newAuthCode,
  },
  updateAuthCode: {
    method: 'PUT',
    path: '/organization/{orgId}/update/auth-code/{authCodeId}',
    cli: 'org auth-code update',
    effect: 'write',
    summary: 'Update the label, the number of uses or the expiry of an auth code',
    message: 'Auth code updated',
    example: '3 --org acme --uses 10',
    input: z.strictObject({
      orgId: org_id,
      authCodeId: shown(id, 'Auth code id', { example: '3' }),
      label: chosen(z.optional(line(120)), 'Purpose', { example: 'Berlin office' }),
      uses: chosen(z.optional(uses), 'Number of uses left', { example: 50 }),
      expires_at: chosen(z.optional(moment), 'When it expires', { example: '2030-01-31T18:00:00Z' }),
    }),
    data: authCodeRecord,
  },
  deleteAuthCode: {
    method: 'DELETE',
    path: '/organization/{org_id}/delete/auth-code/{auth_code_id}',
    cli: 'org auth-code delete',
    effect: 'delete',
    summary: 'Delete an auth code',
    message: 'Auth code deleted',
    example: '3 --org acme --yes',
    input: z.strictObject({ org_id, auth_code_id: shown(id, 'Auth code id', { example: '3' }) }),
  },
})
