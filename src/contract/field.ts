import * as z from 'zod/mini'
import { isSeen } from '../core/safe-text.ts'
import { partsOf } from './schema.ts'

// The whole of zod, which the MCP SDK loads, gives everybody in the process its English words. Ours need it without.
z.config({ localeError: () => undefined })

/**
 * What the table knows of a field beyond its type.
 * `shown`: the specification has it, so client and service check it. `chosen`: the specification leaves it open
 * (spec: not shown) and we decided it; only our own service checks it.
 */
export type FieldMeta = {
  source: 'shown' | 'chosen'
  description: string
  examples?: unknown[]
  /** The flag that people type, without dashes, where it is another word than the field's. */
  flag?: string
  /** An older spelling of that flag, still accepted and not shown in help. */
  oldFlag?: string
  /** Never an argument value, a log line or a stored answer. */
  secret?: boolean
  /** A phone number, an e-mail address: masked in tables on a terminal. */
  personal?: boolean
  /** A time that has passed: people may type how long ago it was, such as 2h. */
  past?: boolean
  /** An object that people type as one JSON value, and not with a flag for each of its members. */
  whole?: boolean
  /** Required unless this other field is given. */
  unless?: string
  /** A time to come: people may type how far away it is, such as 30d. */
  future?: boolean
  /** What each choice means. Who is asked for the field on a terminal ticks choices from this list. */
  meanings?: Record<string, string>
}

export const fieldMeta = z.registry<FieldMeta>()

type Extra = { example?: unknown } & Pick<
  FieldMeta,
  'flag' | 'oldFlag' | 'secret' | 'personal' | 'past' | 'whole' | 'unless' | 'future' | 'meanings'
>

const described =
  (source: FieldMeta['source']) =>
  <T extends z.core.$ZodType>(schema: T, description: string, extra: Extra = {}): T => {
    const own = z.clone(schema as never) as T
    const { example, ...flags } = extra
    fieldMeta.add(own, {
      source,
      description,
      ...(example === undefined ? {} : { examples: [example] }),
      ...flags,
    })
    return own
  }

/** A field that the specification shows. */
export const shown = described('shown')

/** A field that we chose. spec: not shown */
export const chosen = described('chosen')

/** The meta of a field, looked for behind `optional`, `nullable` and defaults. */
export const metaOf = (schema: z.core.$ZodType): FieldMeta | undefined => {
  const own = fieldMeta.get(schema)
  if (own) return own
  const { innerType } = partsOf(schema)
  return innerType && metaOf(innerType)
}

// What a person cannot see, or sees elsewhere than it stands, they cannot approve; and an agent may have been fed it.
export const seen = z.refine(
  (text) => isSeen(text as string),
  'must not hold control, invisible or direction-changing characters, or half a character',
)

/** Text on one line: 1 to `max` characters that can all be seen. */
export const line = (max = 200) =>
  z.string().check(
    z.trim(),
    z.minLength(1, 'must not be empty'),
    z.maxLength(max, `must have at most ${max} characters`),
    // What is checked besides would find the same once more.
    z.regex(/^\P{Cc}*$/u, { error: 'must not hold control characters', abort: true }),
    seen,
  )

/** A whole number from 1. The specification declares only `org_id` and the `id` of a geo-fence as integers. */
export const positive = z.int('must be a whole number').check(z.gte(1, 'must be 1 or more'))

/** Any other id is text, as `user_id` is in the specification. Nothing may be read from it: another service has `usr_8f3`. */
export const id = line(64).brand<'id'>()

const ids = z.registry<{ text: true }>()
ids.add(id, { text: true })

/** Whether a field holds such an id, behind `optional` and `nullable` too. */
export const isId = (schema: z.core.$ZodType): boolean => {
  // A registry answers for clones of a schema as well.
  if (ids.get(schema as typeof id)) return true
  const { innerType } = partsOf(schema)
  return innerType !== undefined && isId(innerType)
}
