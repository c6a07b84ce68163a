import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import { isSeen } from '../core/safe-text.ts'
import { fromUtf8 } from '../core/exact-json.ts'
import { sha256Base64url } from '../core/ids.ts'

/** Text without unpaired surrogates, which UTF-8 and therefore RFC 8785 cannot encode. */
export const wellFormed = z.string().check(z.regex(/^\P{Cs}*$/u, 'contains an unpaired surrogate'))
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

/** Digits as text: the id of a row. */
export const id = z.string().check(z.regex(/^\d{1,15}$/, 'is not an id'))
export const someText = wellFormed.check(z.minLength(1))

/** The organization of the request; two organizations can have the same name. */
export const organization = z.strictObject({ id, slug: someText })
/** The owner of a key, as the approver saw them. A name alone identifies nobody. */
export const keyOwner = z.strictObject({
  user_id: id,
  name: someText,
  /** All but the last digits hidden. */
  mobile: z.string().check(z.regex(/^•*\+?\d{1,4}$/u, 'is not a masked number')),
  /** Whether a device of this person confirmed it. Otherwise whoever created the key claims it. */
  confirmed: z.boolean(),
  /** Whether another active member had the same name, or one that looks like it. */
  twin: z.boolean(),
})
export type KeyOwner = z.infer<typeof keyOwner>
/** The requesting API key, as it was then. Id 0 is not a key of the store: its name describes the requester. */
export const requestingKey = z.strictObject({
  id,
  name: someText,
  scopes: z.array(word).check(z.refine((all) => new Set(all).size === all.length, 'contains a duplicate')),
  owner: z.optional(keyOwner),
})
/** Who signs, in separate fields: a name alone identifies nobody. */
export const approver = z.strictObject({
  user_id: id,
  name: someText,
  mobile: phone,
  /** Whether another active member had the same name, or one that looks like it. */
  twin: z.boolean(),
})
const isRising = (ids: readonly string[]): boolean =>
  ids.every((one, at) => at === 0 || Number(ids[at - 1]) < Number(one))
/** User ids, rising. */
const peopleIds = z.array(id).check(z.minLength(1), z.refine(isRising, 'is not in the order of the ids'))
/** People of whom `need` must agree. Each agrees for one line only. */
export const approvalLine = z
  .strictObject({
    people: peopleIds,
    need: z.int().check(z.positive()),
    /** The group that they were the members of; null for people who were named. */
    group: z.nullable(z.strictObject({ id, name: someText })),
    /** The rules that ask for it, by name. */
    rules: z.array(someText),
    /** Whether a person does not count whose device the requesting key enrolled, or whose device has an unknown origin. */
    separated: z.boolean(),
  })
  .check(z.refine(({ people, need }) => need <= people.length, 'needs more people than it has'))
/** Every line must be satisfied. */
export const approvalLines = z.array(approvalLine).check(z.minLength(1))
export const sha256Hex = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex'))
/** The rules that held the request, each with the SHA-256 of what it said. */
export const holdingRules = z.array(z.strictObject({ name: someText, digest: sha256Hex }))
/** What the approver wrote with a denial: one line that a reader sees in full. */
export const denialNote = z
  .string()
  .check(
    z.minLength(1, 'is empty'),
    z.maxLength(280, 'has more than 280 characters'),
    z.regex(/^\P{Cc}*$/u, 'is not one line'),
    z.refine(isSeen, 'contains an invisible character'),
  )

/** For how long and how often the same key can do this again. The parts in `free` can differ; see `receipt/granted.ts`. */
export const grantTerms = z.strictObject({
  free: z.array(someText),
  seconds: z.int().check(z.positive()),
  uses: z.int().check(z.positive()),
})
export type GrantTerms = z.infer<typeof grantTerms>

const shape = z
  .strictObject({
    type: z.literal('approval'),
    request_id: someText,
    /** As the requester described it. */
    action: someText,
    reason: z.nullable(wellFormed),
    /** The claimed name of the requester, as the approver saw it. */
    requester: someText,
    approver,
    lines: approvalLines,
    rules: holdingRules,
    factors: z.array(word).check(z.refine((all) => new Set(all).size === all.length, 'contains a duplicate')),
    decision: z.enum(['approve', 'deny']),
    nonce: z.string().check(z.regex(/^[\w-]{22,128}$/, 'is not 128 bits or more of base64url')),
    requested_at: time,
    request_expires_at: time,
    format: z.literal(1),
    organization,
    key: requestingKey,
    subject: z.strictObject({ type: word, digest: sha256Hex }),
    note: z.optional(denialNote),
    /** Which later calls of the same key the person approves besides. */
    grant: z.optional(grantTerms),
    /** Why somebody else was asked than the people whom the rules name, and whom nobody asked. */
    break_glass: z.optional(z.strictObject({ reason: someText, skipped: peopleIds })),
  })
  .check(
    z.refine(
      ({ lines, approver }) => lines.some(({ people }) => people.includes(approver.user_id)),
      'approver is in no line',
    ),
    z.refine(
      ({ requested_at, request_expires_at }) => request_expires_at > requested_at,
      'request_expires_at is not after requested_at',
    ),
    z.refine(({ decision, note }) => note === undefined || decision === 'deny', 'only a denial has a note'),
    z.refine(
      ({ decision, grant }) => grant === undefined || decision === 'approve',
      'a denial grants nothing',
    ),
  )

/** What the human signs. Approving and denying are two contexts, so the signature of one is not valid for the other. */
export type ApprovalContext = z.infer<typeof shape>

/** Why a value does not fit a shape, in one line. */
export const shapeProblem = (error: z.core.$ZodError): string =>
  error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.') || 'root'}: ${issue.message}`)
    .join('; ')

/** Parses the exact bytes: they must contain these fields and no others, in canonical form (RFC 8785). Throws otherwise. */
export const readContext = (bytes: Uint8Array): ApprovalContext => {
  const text = fromUtf8(bytes)
  // Text in canonical form has no member twice.
  const parsed = shape.safeParse(JSON.parse(text))
  if (!parsed.success) throw new TypeError(`The context is not an approval: ${shapeProblem(parsed.error)}`)
  if (canonicalize(parsed.data) !== text) throw new TypeError('The context is not in canonical form')
  return parsed.data
}

/** UTF-8 of the RFC 8785 JSON. Throws a TypeError if `readContext` would not accept it. */
export const contextBytes = (context: ApprovalContext): Uint8Array => {
  const bytes = new TextEncoder().encode(canonicalize(context))
  readContext(bytes)
  return bytes
}

/** The WebAuthn challenge: base64url of the SHA-256 of the context's bytes. */
export const challengeOf = (bytes: Uint8Array): string => sha256Base64url(bytes)
