import * as z from 'zod/mini'
import { parseExact } from '../core/exact-json.ts'
import { shapeProblem } from './context.ts'
import { sameJson } from './same-json.ts'
import { checkSignature, type Note } from './signature.ts'

const maxBytes = 256 * 1024
/** Enough for 30 people, each with the largest subject. */
const maxSetBytes = 4 * 1024 * 1024

const signed = z.strictObject({
  format: z.literal('jws'),
  jws: z.string(),
  kid: z.string(),
  claims: z.optional(z.unknown()),
})

const envelope = z.discriminatedUnion('format', [
  signed,
  z.strictObject({
    format: z.literal('set'),
    receipts: z.array(signed).check(z.minLength(1)),
    completion: signed,
  }),
  z.strictObject({ format: z.literal('grant'), use: signed, receipt: signed }),
])

type Bare = { format: 'bare'; jws: string }
export type Signed = Bare | z.infer<typeof signed>

/** The text or the value of an attestation: JWS with the copies beside them, or a bare JWS, which has none. */
export const readEnvelope = (
  attestation: unknown,
  note: Note,
): Bare | z.infer<typeof envelope> | undefined => {
  const text = (typeof attestation === 'string' ? attestation : (JSON.stringify(attestation) ?? '')).trim()
  const bytes = Buffer.byteLength(text)
  const read = bytes <= maxSetBytes && text.startsWith('{') ? envelope.safeParse(parseExact(text)) : undefined
  const most = read?.data?.format === 'set' ? maxSetBytes : maxBytes
  if (!note('size', bytes <= most, `${bytes} bytes, at most ${most}`)) return undefined
  if (!read) return { format: 'bare', jws: text }
  const problem = 'not a receipt, as --receipt and svc approve status ID --jq .attestation write it'
  note('format', read.success, read.error ? `${problem} (${shapeProblem(read.error)})` : read.data.format)
  return read.data
}

/** The claims that the service signed, of a JWS of that type; undefined if a check failed. */
export const readSigned = <T>(
  one: Signed,
  jwks: unknown,
  { type, shape }: { type: string; shape: z.ZodMiniType<T> },
  note: Note,
): T | undefined => {
  const found = checkSignature(one.jws, jwks, type, note)
  if (!found) return undefined
  if (one.format === 'jws') {
    // The answer of a tool leaves out the claims.
    const same = one.kid === found.kid && (one.claims === undefined || sameJson(one.claims, found.payload))
    note('copy', same, `the data next to the JWS is ${same ? '' : 'not '}what was signed`)
  }
  const { data: claims, error } = shape.safeParse(found.payload)
  note('shape', claims !== undefined, error ? shapeProblem(error) : 'all claims, and no others')
  return claims
}
