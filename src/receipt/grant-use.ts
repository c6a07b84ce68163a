import * as z from 'zod/mini'
import { sha256 } from '../core/ids.ts'
import type { Receipt, ReceiptClaims } from './claims.ts'
import {
  holdingRules,
  organization,
  requestingKey,
  sha256Hex,
  someText,
  wellFormed,
  word,
} from './context.ts'
import { isGranted } from './granted.ts'
import type { Signing } from './human.ts'
import { type Jws, type SignClaims, signJws } from './jws.ts'
import { sameJson } from './same-json.ts'
import type { Note } from './signature.ts'
import type { Subject } from './subject.ts'
import { skew, timeText } from './time-text.ts'

// A call under a grant is proved by the receipt of the person who granted it, and by what the service signed of this use.

/** `typ` of the use. */
export const useType = 'approval-grant-use+jwt'

export const useShape = z.strictObject({
  iss: someText,
  /** When it was used, in seconds. */
  iat: z.int().check(z.positive()),
  /** The id of the request, which no person saw. */
  jti: someText,
  aud: someText,
  action: someText,
  reason: z.nullable(wellFormed),
  organization,
  key: requestingKey,
  rules: holdingRules,
  subject: z.strictObject({ type: word, data: z.record(z.string(), z.json()), digest: sha256Hex }),
  /** The request with which it was granted, and the SHA-256 of the JWS of its receipt. */
  grant: z.strictObject({ request_id: someText, receipt: sha256Hex }),
  /** The first use is 1. */
  use: z.int().check(z.positive()),
})

export type UseClaims = z.infer<typeof useShape>

/** The `attestation` of a request under a grant. */
export type GrantedReceipt = { format: 'grant'; use: Jws<UseClaims>; receipt: Receipt }

/** Signs one use of a grant. Throws if a part does not fit the format. */
export const createUse = async (
  claims: Omit<UseClaims, 'grant' | 'subject'> & { subject: Subject & { digest: string } },
  receipt: Receipt,
  sign: SignClaims,
): Promise<GrantedReceipt> => ({
  format: 'grant',
  use: await signJws(
    useShape,
    { ...claims, grant: { request_id: receipt.claims.jti, receipt: sha256(receipt.jws) } },
    useType,
    sign,
  ),
  receipt,
})

/** Checks that the person granted this use: whatever the service says of it is compared with what they signed. */
export const checkUse = (
  use: UseClaims,
  { jws, claims, context, subject }: Signing & { jws: string; claims: ReceiptClaims },
  asked: Subject | undefined,
  note: Note,
): void => {
  const { grant } = context
  const granted = `"${claims.jti}" grants nothing`
  if (!note('grant', grant !== undefined, grant ? `by ${claims.sub}, in ${claims.jti}` : granted) || !grant)
    return
  const { request_id, receipt } = use.grant
  const isNamed = request_id === claims.jti && receipt === sha256(jws)
  note('granting receipt', isNamed, `${isNamed ? '' : 'not '}the one that the use names`)
  const isSame =
    use.iss === claims.iss &&
    use.key.id === claims.key.id &&
    sameJson(use.organization, claims.organization) &&
    sameJson(use.rules, claims.rules)
  note('same requester', isSame, 'the service, organization, key and rules of the grant')
  const isCovered = subject !== undefined && asked !== undefined && isGranted(subject, grant.free, asked)
  const free = grant.free.length === 0 ? 'nothing' : grant.free.join(', ')
  note('granted subject', isCovered, `what was approved, of which ${free} may differ`)
  note('use', use.use <= grant.uses, `${use.use} of ${grant.uses}`)
  const end = claims.iat + grant.seconds
  const isInTime = use.iat >= claims.iat - skew && use.iat <= end + skew
  note('granted time', isInTime, `${timeText(use.iat)}, granted until ${timeText(end)}`)
}
