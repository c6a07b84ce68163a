import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import { fromUtf8, parseExact, toBase64url } from './exact.ts'

/** Text without lone surrogates: they have no UTF-8, so RFC 8785 has no bytes for them. */
export const wellFormed = z.string().check(z.regex(/^\P{Cs}*$/u, 'holds half a character'))
export const phone = z.string().check(z.regex(/^\+[1-9]\d{1,14}$/, 'is not E.164'))
export const word = z.string().check(z.regex(/^[a-z][a-z0-9_-]{0,63}$/, 'is not a lower-case word'))

const time = z
  .string()
  .check(
    z.refine(
      (text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text,
      'is not a UTC time like 2030-01-31T12:00:00.000Z',
    ),
  )

const shape = z
  .strictObject({
    type: z.literal('approval'),
    request_id: wellFormed.check(z.minLength(1)),
    action: wellFormed.check(z.minLength(1)),
    reason: z.nullable(wellFormed),
    /** Who asks, as the approver was shown it. */
    requester: wellFormed.check(z.minLength(1)),
    approver: phone,
    factors: z.array(word).check(z.refine((all) => new Set(all).size === all.length, 'names one twice')),
    decision: z.enum(['approve', 'deny']),
    nonce: z.string().check(z.regex(/^[\w-]{22,128}$/, 'is not 128 bits or more of base64url')),
    requested_at: time,
    request_expires_at: time,
  })
  .check(
    z.refine((c) => c.request_expires_at > c.requested_at, 'request_expires_at is not after requested_at'),
  )

/** What the human signs. Approve and deny of one request are two contexts, so neither signature does for the other. */
export type ApprovalContext = z.infer<typeof shape>

/** Why a value does not fit a shape, in one line. */
export const shapeProblem = (error: z.core.$ZodError): string =>
  error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.') || 'the whole'}: ${issue.message}`)
    .join('; ')

/** Checks the exact bytes: these fields and no other, and RFC 8785 of them is these bytes again. Throws otherwise. */
export const readContext = (bytes: Uint8Array): ApprovalContext => {
  const text = fromUtf8(bytes)
  const parsed = shape.safeParse(parseExact(text))
  if (!parsed.success) throw new TypeError(`The context is not an approval: ${shapeProblem(parsed.error)}`)
  if (canonicalize(parsed.data) !== text) throw new TypeError('The context is not in canonical form')
  return parsed.data
}

/** UTF-8 of the RFC 8785 JSON. Throws a TypeError for what `readContext` would not read. */
export const contextBytes = (context: ApprovalContext): Uint8Array => {
  const bytes = new TextEncoder().encode(canonicalize(context))
  readContext(bytes)
  return bytes
}

/** The WebAuthn challenge: base64url of the SHA-256 of the context's bytes. */
export const challengeOf = (bytes: Uint8Array): string =>
  toBase64url(new Uint8Array(createHash('sha256').update(bytes).digest()))
