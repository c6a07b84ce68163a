import { createHmac } from 'node:crypto'
import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import { sha256 } from '../core/ids.ts'
import { isSeen } from '../core/safe-text.ts'

// What exactly a person approves, as data. The approver reads what is rendered from `data` and signs its digest, so the text
// shown and the hash cannot differ.

/** Maximum size of the canonical JSON of `data`. The approver reads all of it, on a phone too. */
export const maxDataBytes = 32 * 1024
const maxDepth = 16
const maxNodes = 2000

const some = z.string().check(z.minLength(1, 'must not be empty'))
const sha256Hex = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex'))
const json = z.record(z.string(), z.json())
const boundFile = z.strictObject({ path: some, sha256: sha256Hex })

// The same rule as `actionText` in the contract: the approver reads this text as it is. Newlines, tabs and joiners of letters
// and emoji are allowed.
const readable = z
  .string()
  .check(
    z.minLength(1, 'must not be empty'),
    z.maxLength(500, 'must have at most 500 characters'),
    z.regex(/^$|\S/, 'must not be blank'),
    z.refine(
      isSeen,
      'must not contain control, invisible or direction-changing characters, or an unpaired surrogate',
    ),
  )

const shapes = {
  /** Only a sentence, which no program can check. */
  text: z.strictObject({ text: readable }),
  /** A program with its arguments. Of `environment.passed` only the names are bound; `set` is shown with its values. */
  command: z.strictObject({
    argv: z.array(z.string()).check(z.minLength(1, 'must contain a command')),
    cwd: some,
    executable: boundFile,
    files: z.array(boundFile),
    environment: z.strictObject({ passed: z.array(some), set: z.record(some, z.string()) }),
  }),
  /** A call of the service, or a bulk write with what it creates, changes and deletes. Secrets are keyed digests. */
  request: z.strictObject({
    organization: z.nullable(z.strictObject({ id: some, slug: some })),
    operation: some,
    body: json,
    /** The values that an update replaces. */
    before: z.optional(json),
    counts: z.optional(z.record(some, z.int().check(z.gte(0, 'must be 0 or more')))),
    deletions: z.optional(z.array(some)),
    file: z.optional(z.strictObject({ name: some, sha256: sha256Hex })),
  }),
  file: z.strictObject({ name: some, size: z.int().check(z.gte(0, 'must be 0 or more')), sha256: sha256Hex }),
  tool_call: z.strictObject({
    server: some,
    tool: some,
    arguments: json,
    /** The other members of the call, if it has any. */
    parameters: z.optional(json),
    /** How the server describes the tool: name, description and schemas. */
    definition: z.optional(
      z.strictObject({
        sha256: sha256Hex,
        /** What changed since a person last approved a call of the tool. */
        changed: z.optional(
          z.strictObject({
            before: sha256Hex,
            description: z.optional(z.strictObject({ before: z.string(), now: z.string() })),
          }),
        ),
      }),
    ),
  }),
}

export type SubjectType = keyof typeof shapes
type DataOf<T extends SubjectType> = z.infer<(typeof shapes)[T]>

export const subjectTypes = Object.keys(shapes) as SubjectType[]

export type Subject = { [T in SubjectType]: { type: T; data: DataOf<T> } }[SubjectType]

/** The canonical JSON (RFC 8785) of data: what is hashed and stored. */
export const canonicalData = (data: unknown): string => canonicalize(data)!

/** SHA-256 of the canonical JSON, lower-case hex. */
export const digestOf = (data: unknown): string => sha256(canonicalData(data))

/** A secret in a subject: without the key, its digest cannot be matched to a value. */
export const keyedDigest = (secret: string, key: Uint8Array): string =>
  `hmac-sha256:${createHmac('sha256', key).update(secret).digest('hex')}`

/** The subject of a request that has only an action. */
export const textSubject = (text: string): Subject => ({ type: 'text', data: { text } })

/** Why something is not a subject. `path` is the location of the problem, such as `data.argv`. */
export class SubjectError extends TypeError {
  readonly path: string
  /** It is too large, but its form is valid. */
  readonly isTooLarge: boolean
  constructor(path: string, message: string, isTooLarge = false) {
    super(message)
    this.path = path
    this.isTooLarge = isTooLarge
  }
}

const refuseText = (text: string): void => {
  if (/\0|\p{Cs}/u.test(text)) throw new SubjectError('data', 'must not contain NUL or an unpaired surrogate')
}

/** Not recursive, so that deep nesting cannot overflow the stack. */
const checkLimits = (data: unknown): void => {
  const left: [value: unknown, depth: number][] = [[data, 1]]
  for (let nodes = 1; left.length > 0; nodes++) {
    const [value, depth] = left.pop()!
    if (depth > maxDepth)
      throw new SubjectError('data', `must not be nested more than ${maxDepth} levels deep`)
    if (nodes + left.length > maxNodes)
      throw new SubjectError('data', `must have at most ${maxNodes} values`, true)
    if (typeof value === 'string') refuseText(value)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new SubjectError('data', 'must not contain a number that JSON cannot express')
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value)) {
      if (left.length > maxNodes) throw new SubjectError('data', `must have at most ${maxNodes} values`, true)
      if (name === '__proto__') throw new SubjectError('data', 'must not contain a member called __proto__')
      refuseText(name)
      left.push([inner, depth + 1])
    }
  }
}

const dotted = (path: PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${String(part)}`),
    'data',
  )

const requireKnown = (subject: Subject): void => {
  if (subject.type !== 'request') return
  const { body, before = {} } = subject.data
  const stray = Object.keys(before).find((name) => !Object.hasOwn(body, name))
  if (stray !== undefined) throw new SubjectError('data.before', `contains "${stray}", which is not in body`)
}

type Unchecked = { type: unknown; data: unknown; digest?: unknown }

/**
 * Checks type, form, limits and, if present, the digest. The result is parsed from the canonical JSON, so that everything
 * rendered from it is what was hashed. Throws a SubjectError.
 */
export const readSubject = ({ type, data, digest }: Unchecked): Subject => {
  const known = subjectTypes.find((one) => one === type)
  if (known === undefined) throw new SubjectError('type', `must be one of ${subjectTypes.join(', ')}`)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new SubjectError('data', 'must be an object')
  checkLimits(data)
  const canonical = canonicalData(data)
  const bytes = Buffer.byteLength(canonical)
  if (bytes > maxDataBytes)
    throw new SubjectError('data', `must have at most ${maxDataBytes} bytes, but has ${bytes}`, true)
  const exact: unknown = JSON.parse(canonical)
  const parsed = shapes[known].safeParse(exact)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const { path } = issue!
    if (issue!.code === 'unrecognized_keys')
      throw new SubjectError(dotted([...path, issue.keys[0]!]), `is not known in a subject of type ${known}`)
    throw new SubjectError(
      dotted(path),
      issue!.message === 'Invalid input' ? 'is missing or not valid' : issue!.message,
    )
  }
  const subject = { type, data: exact } as Subject
  requireKnown(subject)
  if (digest !== undefined && digest !== sha256(canonical))
    throw new SubjectError(
      'digest',
      `does not match data: the SHA-256 of its canonical JSON (RFC 8785) is ${sha256(canonical)}`,
    )
  return subject
}
