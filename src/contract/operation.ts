import type * as z from 'zod/mini'
import type { FieldMeta } from './field.ts'
import type { Scope } from './scopes.ts'

export type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'enum' | 'list' | 'json'

export type Field = {
  name: string
  /** Where its value goes in the input: `['policy', 'ip_allow']`. */
  path: string[]
  /** The flag without dashes: `--org`, `--ip-allow`, `--client-secret-file`. */
  flag: string
  kind: Kind
  choices: string[]
  required: boolean
  meta: FieldMeta
}

/** An operation without its schemas. */
export type Outline = { fields: Field[]; personal: string[]; secret: string[]; answered: string[] }

/** `notifies` reaches a person. A call that notifies is never repeated by itself. */
export type Effect = 'read' | 'write' | 'delete' | 'notifies'

export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/admin/public/api`, or from the origin when it starts with `/svc/v1/`. `{name}` is a field of the input. */
  path: string
  /** The words of the command: `org auth-code create`. */
  cli: string
  /** Where two operations share their words: the input field whose flag selects this one. */
  select?: string
  /** Input fields that are positional arguments, in order. Without it: the path values that are no organization. */
  args?: readonly string[]
  effect: Effect
  /**
   * A GET whose answer is the same for the same caller and address until something is written: it depends on the store alone,
   * and neither on the clock nor on the request.
   */
  cacheable?: true
  /** A POST that changes a record, and answers it. Every PUT does. */
  updates?: boolean
  /** A key needs one of these scopes. Every operation has some, unless it is `open` or called by the approver page. */
  scope?: Scope | readonly Scope[]
  /** Only an operator key may call it. */
  operator?: boolean
  /** Needs no key: a one-use token or an assertion in its input is the proof. */
  open?: boolean
  /** Called by the approver page: the cookie of a device is the proof. */
  session?: boolean
  /** Its command is for other programs and does not stand in the help. */
  hidden?: boolean
  summary: string
  /** The `message` of the envelope when it went well. */
  message: string
  /** Arguments that make a working example: `--name "Acme Corp"`. */
  example?: string
  /** Path values, query and body in one flat object; see `place` in `request.ts` for which goes where. */
  input: z.ZodMiniObject
  /** The envelope's `data`; none where the envelope has no data. */
  data?: z.ZodMiniType
  /** The columns of its table, when the output is a table. */
  columns?: readonly string[]
  /** Fields of a record too long for a person: a table leaves them out, every other format has them. */
  folded?: readonly string[]
  /** What `describe.ts` finds out, where the build has done it: the command line then starts without a validator. */
  outline?: Outline
}

export type Operations = Record<string, Operation>

type PathNames<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never

type WithPathValues<T extends Operations> = {
  [K in keyof T]: PathNames<T[K]['path']> extends keyof z.infer<T[K]['input']>
    ? T[K]
    : { input: `the input lacks ${Exclude<PathNames<T[K]['path']>, keyof z.infer<T[K]['input']> & string>}` }
}

/** A table of operations. A `{name}` in a path that the input lacks does not compile. */
export const operations = <const T extends Operations>(table: T & WithPathValues<T>): T => table

export type Input<O extends Operation> = z.input<O['input']>

/** What an operation answers. Of one that is chosen when the program runs, whose type is `Operation`, it is unknown. */
export type Data<O extends Operation> = Operation extends O
  ? unknown
  : O['data'] extends z.ZodMiniType
    ? z.input<O['data']>
    : undefined

/** Names under which an operation takes the organization. */
export const orgFields: readonly string[] = ['org_id', 'orgId', 'orgIdOrSlug']
