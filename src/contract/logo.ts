import * as z from 'zod/mini'
import { chosen } from './field.ts'
import { operations } from './declaration.ts'
import { org_id } from './records.ts'

/** The logo of an organization, which the approver page shows beside its name. spec: not shown */
export const logo = operations({
  setLogo: {
    route: 'POST /svc/v1/organizations/{org_id}/logo',
    cli: 'org logo set',
    args: ['image'],
    scope: 'keys',
    summary: 'Set the logo that the approver page shows beside the name of the organization',
    message: 'Logo set',
    example: 'logo.png --org acme',
    input: z.strictObject({
      org_id,
      image: chosen(
        z.string().check(
          z.minLength(1, 'must not be empty'),
          // 32 KB in base64.
          z.maxLength(43_692, 'must have at most 32 KB'),
          z.regex(/^[\w+/-]+={0,2}$/, 'must be base64'),
        ),
        'PNG, at most 32 KB and 512 by 512 pixels',
        { file: true },
      ),
    }),
  },
  removeLogo: {
    route: 'DELETE /svc/v1/organizations/{org_id}/logo',
    cli: 'org logo remove',
    scope: 'keys',
    summary: 'Remove the logo of an organization; the page shows its initials',
    message: 'Logo removed',
    example: '--org acme --yes',
    input: z.strictObject({ org_id }),
  },
})
