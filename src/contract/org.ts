import * as z from 'zod/mini'
import { newAuthCode } from './auth-code.ts'
import { chosen, line, nullable, optional, positive, shown } from './field.ts'
import { operations } from './declaration.ts'
import { policy } from './policy.ts'
import {
  country_code,
  email,
  keyRecord,
  mobile,
  newKey,
  org_id,
  paging,
  personal,
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
  slug: optional(slug, 'Short name, accepted wherever an id is; default: derived from the name', {
    example: 'acme',
  }),
  policy: optional(policy, 'What the organization enforces'),
}

const idpRecord = z.looseObject({
  provider: chosen(z.string(), 'Identity provider'),
  client_id: chosen(z.string(), 'Client id at the provider'),
  client_secret_set: chosen(z.boolean(), 'Whether a secret is stored; it is never shown'),
  updated_at: times.updated_at,
})

export const org = operations({
  listOrganizations: {
    route: 'GET /organizations',
    cli: 'org list',
    scope: 'read',
    cacheable: true,
    summary: 'List organizations',
    message: 'Organizations',
    input: z.strictObject({ ...paging }),
    data: z.array(listedOrganization),
    columns: ['id', 'slug', 'name', 'created_at'],
  },
  getOrganization: {
    route: 'GET /organization/{orgIdOrSlug}',
    cli: 'org get',
    args: ['orgIdOrSlug'],
    scope: ['read', 'ask'],
    cacheable: true,
    summary: 'Show one organization',
    message: 'Organization',
    example: 'acme',
    input: z.strictObject({ orgIdOrSlug: shown(line(60), 'Organization id or slug', { example: 'acme' }) }),
    data: organizationRecord,
  },
  createOrganization: {
    route: 'POST /organization/create',
    cli: 'org create',
    scope: 'keys',
    operator: true,
    summary: 'Create an organization',
    message: 'Organization created',
    example: '--name "Acme Corp" --slug acme',
    input: z.strictObject(naming),
    data: organizationRecord,
  },
  onboardOrganization: {
    route: 'POST /organization/create/onboarding',
    cli: 'org onboard',
    scope: 'keys',
    operator: true,
    summary: 'Create an organization with its first administrator, an auth code and an API key, in one step',
    message: 'Organization onboarded; its API key has every scope',
    example:
      '--name "Acme Corp" --first-name Ada --last-name Lovelace --email ada@acme.example --country-code +1 --mobile 2025550101',
    input: z.strictObject({
      ...naming,
      first_name: chosen(line(100), 'First name of the first administrator', { example: 'Ada' }),
      last_name: chosen(line(100), 'Last name of the first administrator', { example: 'Lovelace' }),
      email: chosen(email, 'E-mail address of the first administrator', personal.email),
      country_code: chosen(country_code, 'Dialing prefix of the first administrator, with plus', {
        example: '+1',
      }),
      mobile: chosen(mobile, 'Mobile number of the first administrator, national', personal.mobile),
    }),
    data: z.looseObject({
      organization: chosen(organizationRecord, 'The organization'),
      admin: chosen(userRecord, 'The first administrator'),
      enrollment: chosen(
        z.looseObject({
          url: chosen(z.string(), 'One-use link that registers the phone of the administrator', {
            secret: true,
          }),
          expires_at: chosen(time, 'When the link expires'),
        }),
        'Enrollment of the administrator',
      ),
      auth_code: chosen(newAuthCode, 'The first auth code'),
      api_key: chosen(newKey, 'The first API key of the organization, with every scope'),
    }),
  },
  updateOrganization: {
    route: 'PUT /organization/{org_id}/update',
    cli: 'org update',
    args: ['org_id'],
    scope: ['keys', 'rules'],
    summary: 'Update the name, slug or policy of an organization',
    message: 'Organization updated',
    example: 'acme --require-number --ip-allow 203.0.113.0/24',
    input: z.strictObject({ org_id, ...naming, name: z.optional(naming.name) }),
    data: organizationRecord,
  },
  deleteOrganization: {
    route: 'DELETE /organization/{org_id}/delete',
    cli: 'org delete',
    args: ['org_id'],
    scope: 'keys',
    summary: 'Delete an organization and everything that belongs to it; its audit log is kept',
    message: 'Organization deleted',
    example: 'acme --yes',
    input: z.strictObject({ org_id }),
  },
  getApiCredentials: {
    route: 'GET /organization/{org_id}/get-org-api-creds',
    cli: 'org creds get',
    scope: 'keys',
    summary: 'Show the API keys, without their secrets, and the identity provider of an organization',
    message: 'API credentials',
    example: '--org acme',
    input: z.strictObject({ org_id }),
    data: z.looseObject({
      api_keys: chosen(z.array(keyRecord), 'Keys of the organization'),
      idp: nullable(idpRecord, 'Identity provider; null if none is set'),
    }),
  },
  setIdpCredentials: {
    route: 'POST /organization/{org_id}/idp-api-creds',
    cli: 'org creds set-idp',
    scope: 'keys',
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
})
