import type * as z from 'zod/mini'
import { fromBase64url, fromUtf8, parseExact } from '../core/exact-json.ts'

/** Signs JSON claims as a compact JWS with that `typ` and a `kid`. */
export type SignClaims = (claims: Record<string, unknown>, typ: string) => Promise<string>

const jsonOf = (part: string | undefined): unknown => parseExact(fromUtf8(fromBase64url(part ?? '')))

/** Signed claims: the JWS is the proof, `kid` and `claims` are there to be read. */
export type Jws<T> = { format: 'jws'; jws: string; kid: string; claims: T }

/** Signs claims, and puts the claims that were signed beside the JWS, to be read. Throws if they do not fit the shape. */
export const signJws = async <T extends Record<string, unknown>>(
  shape: z.ZodMiniType<T>,
  claims: unknown,
  typ: string,
  sign: SignClaims,
): Promise<Jws<T>> => {
  const jws = await sign(shape.parse(claims), typ)
  const [header, payload] = jws.split('.')
  const { kid } = jsonOf(header) as { kid: string }
  return { format: 'jws', jws, kid, claims: shape.parse(jsonOf(payload)) }
}
