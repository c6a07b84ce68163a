import type * as z from 'zod/mini'
import type { FieldMeta } from './field.ts'
import type { Scope } from './scopes.ts'

export type FieldKind = 'string' | 'integer' | 'number' | 'boolean' | 'enum' | 'list' | 'json'

export type Field = {
  name: string
  /** The path of its value in the input: `['policy', 'ip_allow']`. */
  path: string[]
  /** The flag without dashes: `--org`, `--ip-allow`, `--client-secret-file`. */
  flag: string
  kind: FieldKind
  choices: string[]
  required: boolean
  meta: FieldMeta
}

/** An operation without its schemas. */
export type Outline = { fields: Field[]; personal: string[]; secret: string[]; answered: string[] }

/**
 * `notifies` reaches a person. svc never repeats such a call automatically. `decides` ends or gives the access of a person at
 * once, which no command simply takes back. svc asks before it, as before a `delete`.
 */
export type Effect = 'read' | 'write' | 'decides' | 'delete' | 'notifies'

export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/admin/public/api`, or from the origin if it starts with `/svc/v1/`. `{name}` is a field of the input. */
  path: string
  /** The words of the command: `org auth-code create`. */
  cli: string
  /** If two operations share a command: the input field whose flag selects this one. */
  select?: string
  /** Input fields that are positional arguments, in order. Default: the path values except the organization. */
  args?: readonly string[]
  effect: Effect
  /** Of a write: the values of an input field with which it decides, as the effect `decides` does. */
  decidesWith?: Readonly<Record<string, readonly string[]>>
  /**
   * A GET whose answer stays the same for the same caller and address until something is written: it depends only on the
   * store, not on the clock or the request.
   */
  cacheable?: true
  /** A POST that changes a record and returns it, as every PUT does. */
  updates?: boolean
  /** A key requires one of these scopes. Every operation has some, unless it is `open` or called by the approver page. */
  scope?: Scope | readonly Scope[]
  /** Only an operator key can call it. */
  operator?: boolean
  /** Requires no key: a one-use token or an assertion in its input is the proof. */
  open?: boolean
  /** Called by the approver page: the cookie of a device is the proof. Its command is hidden. If it is also `open`, it answers a browser without a session, too. */
  session?: boolean
  /**
   * Of an operation of the approver page: the cookie is enough. Every other one also needs a signature of the device, either in
   * its own input or for the session in the last minutes.
   */
  cookieAlone?: true
  /**
   * Of an operation of the approver page: the words of the command that it equals, or those for each `move`. A rule that holds
   * the command holds it too, unless it concerns only the person at the page.
   */
  equals?: string | Readonly<Record<string, string>>
  /** Its command is for programs, and help does not list it. */
  hidden?: boolean
  summary: string
  /** The `message` of a successful envelope. */
  message: string
  /** Arguments that make a working example: `--name "Acme Corp"`. */
  example?: string
  /** Path values, query and body in one flat object; `planRequest` in `client/request.ts` distributes them. */
  input: z.ZodMiniObject
  /** The envelope's `data`; absent if the envelope has none. */
  data?: z.ZodMiniType
  /** The columns of its table. */
  columns?: readonly string[]
  /** Columns that a narrow terminal leaves out, the first one first. */
  wide?: readonly string[]
  /** Fields that are too long for people or part of another cell: a table leaves them out, every other format has them. */
  folded?: readonly string[]
  /** The result of `describe.ts`, precomputed by the build, so that the command line starts without a validator. */
  outline?: Outline
}

/** The field and value in an input with which a write decides: `role admin`. */
export const decidingValue = (
  { decidesWith = {} }: Pick<Operation, 'decidesWith'>,
  input: Record<string, unknown>,
): string | undefined => {
  const field = Object.keys(decidesWith).find((name) => decidesWith[name]!.includes(String(input[name])))
  return field === undefined ? undefined : `${field} ${String(input[field])}`
}

/** Whether a session of the approver page must have been confirmed by its device first: not if the call itself is signed. */
export const needsConfirmation = ({ session, open, cookieAlone, input }: Operation): boolean =>
  session === true && !open && !cookieAlone && !('challenge' in input._zod.def.shape)

/** Whether svc asks a person before it carries out the operation with this input; without one, whether it ever does. */
export const asksFirst = (
  operation: Pick<Operation, 'effect' | 'decidesWith'>,
  input?: Record<string, unknown>,
): boolean =>
  operation.effect === 'delete' ||
  operation.effect === 'decides' ||
  (input ? decidingValue(operation, input) !== undefined : operation.decidesWith !== undefined)

export type Operations = Record<string, Operation>

export type Input<O extends Operation> = z.input<O['input']>

/** The data of an operation; unknown for the plain type `Operation`. */
export type Data<O extends Operation> = Operation extends O
  ? unknown
  : O['data'] extends z.ZodMiniType
    ? z.input<O['data']>
    : undefined

/** Names of the input field for the organization. */
export const orgFields: readonly string[] = ['org_id', 'orgId', 'orgIdOrSlug']
