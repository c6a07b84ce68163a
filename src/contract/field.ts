import * as z from 'zod/mini'
import { isSeen } from '../core/safe-text.ts'
import { partsOf } from './schema.ts'

// The MCP SDK loads the whole of zod, which installs its own English messages. We write our own.
z.config({ localeError: () => undefined })

/**
 * What the table states about a field beyond its type.
 * `shown`: the specification has it, so client and service check it. `chosen`: the specification leaves it open
 * (spec: not shown) and we chose it; only our own service checks it.
 */
export type FieldMeta = {
  source: 'shown' | 'chosen'
  description: string
  examples?: unknown[]
  /** The flag without dashes, if it differs from the name of the field. */
  flag?: string
  /** Must never be an argument, a log line or part of a stored answer. */
  secret?: boolean
  /** A phone number or an e-mail address: masked in tables on a terminal. */
  personal?: boolean
  /** A time in the past: people can type how long ago it was, such as 2h. */
  past?: boolean
  /** An object that people type as one JSON value, not with a flag for each member. */
  whole?: boolean
  /** Required unless this other field is set. */
  unless?: string
  /** A time in the future: people can type how far away it is, such as 30d. */
  future?: boolean
  /** A list whose values contain commas: people repeat the flag. */
  repeat?: boolean
  /** What each choice means. A prompt for the field shows them as a list to select from. */
  meanings?: Record<string, string>
}

export const fieldMeta = z.registry<FieldMeta>()

type Extra = { example?: unknown } & Pick<
  FieldMeta,
  'flag' | 'secret' | 'personal' | 'past' | 'whole' | 'unless' | 'future' | 'repeat' | 'meanings'
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

/** A field that we chose and that can be left out. */
export const optional = <T extends z.core.$ZodType>(schema: T, description: string, extra?: Extra) =>
  chosen(z.optional(schema), description, extra)

/** A field that we chose and that can be null. */
export const nullable = <T extends z.core.$ZodType>(schema: T, description: string, extra?: Extra) =>
  chosen(z.nullable(schema), description, extra)

/** The meta of a field, also behind `optional`, `nullable` and defaults. */
export const metaOf = (schema: z.core.$ZodType): FieldMeta | undefined => {
  const own = fieldMeta.get(schema)
  if (own) return own
  const { innerType } = partsOf(schema)
  return innerType && metaOf(innerType)
}

// A person cannot approve text that is invisible or displayed in another order, and an agent may pass on such text.
export const seen = z.refine(
  (text) => isSeen(text as string),
  'must not contain control, invisible or direction-changing characters, or an unpaired surrogate',
)

/** Text on one line: 1 to `max` visible characters. */
export const line = (max = 200) =>
  z.string().check(
    z.trim(),
    z.minLength(1, 'must not be empty'),
    z.maxLength(max, `must have at most ${max} characters`),
    // The next check would report the same problem again.
    z.regex(/^\P{Cc}*$/u, { error: 'must not contain control characters', abort: true }),
    seen,
  )

/** Text of one form. */
export const formed = (form: RegExp, message: string) => z.string().check(z.regex(form, message))

/** A list of at least one and at most `most`. `verb` and `noun` say in an error what it must have, such as contain one pattern. */
export const some = <T extends z.ZodMiniType>(row: T, most: number, noun: string, verb = 'contain') =>
  z
    .array(row)
    .check(
      z.minLength(1, `must ${verb} at least one ${noun}`),
      z.maxLength(most, `must ${verb} at most ${most} ${noun}s`),
    )

/** `words`: how the most is written in an error. */
const wholeOf =
  (unit = '') =>
  (least: number, most?: number, words = String(most)) =>
    z
      .int(`must be a whole number${unit}`)
      .check(
        z.gte(least, `must be ${least} or more`),
        ...(most === undefined ? [] : [z.lte(most, `must be ${words} or less`)]),
      )

export const whole = wholeOf()
export const seconds = wholeOf(' of seconds')

/** A whole number from 1. The specification declares only `org_id` and the `id` of a geofence as integers. */
export const positive = whole(1)

/** Any other id is text, as `user_id` is in the specification. It is opaque: a third-party service may use `usr_8f3`. */
export const id = line(64).brand<'id'>()

const ids = z.registry<{ text: true }>()
ids.add(id, { text: true })

/** Whether a field is such an id, also behind `optional` and `nullable`. */
export const isId = (schema: z.core.$ZodType): boolean => {
  // A registry also finds clones of a schema.
  if (ids.get(schema as typeof id)) return true
  const { innerType } = partsOf(schema)
  return innerType !== undefined && isId(innerType)
}
