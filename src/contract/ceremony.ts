import * as z from 'zod/mini'
import { approvalRecord } from './approval.ts'
import { chosen, optional } from './field.ts'
import { grantOffer } from './grant.ts'

/** What the approver's device signs: the exact bytes of one of two contexts, base64url. See `receipt/context.ts`. */
export const ceremony = z.looseObject({
  request_id: approvalRecord.shape.request_id,
  rp_id: chosen(z.string(), 'Relying party id'),
  origin: chosen(z.string(), 'Origin on which the device must sign'),
  contexts: chosen(
    z.strictObject({
      approve: chosen(z.string(), 'Context of an approval, base64url'),
      deny: chosen(z.string(), 'Context of a denial, base64url'),
    }),
    'The bytes to sign, by decision',
  ),
  credentials: chosen(z.array(z.string()), 'Ids of the credentials that can sign'),
  number_required: chosen(z.boolean(), 'Whether the number must be typed'),
  verified_as: approvalRecord.shape.verified_as,
  subject: approvalRecord.shape.subject,
  requested_from: optional(z.string(), 'IP address that the request came from'),
  lines: approvalRecord.shape.lines,
  grant: optional(
    grantOffer,
    'What the approver can allow besides: the same again, for a while; left out if nothing',
  ),
  location_required: optional(z.boolean(), 'Whether an approval without a location is denied'),
})
