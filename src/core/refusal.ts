import type { Issue } from './errors.ts'

export type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 503

type Details = {
  hint?: string | undefined
  issues?: Issue[]
  headers?: Record<string, string>
  /** Further fields of the envelope's `data`. */
  data?: Record<string, unknown> | undefined
  /** Only the log shows it. */
  cause?: unknown
}

/** The service refuses a request: becomes an envelope with `data: {code, hint?, issues?, …}`. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: RefusalStatus
  readonly code: string
  readonly hint?: string | undefined
  readonly issues?: Issue[] | undefined
  readonly headers: Record<string, string>
  readonly data?: Record<string, unknown> | undefined

  constructor(status: RefusalStatus, code: string, message: string, details: Details = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {})
    this.status = status
    this.code = code
    this.hint = details.hint
    this.issues = details.issues
    this.headers = details.headers ?? {}
    this.data = details.data
  }
}

/** The answer for a missing row and for one of another tenant: callers must not see a difference. */
export const notFound = (what: string, hint?: string): Refusal =>
  new Refusal(404, 'not_found', `${what} not found`, { hint })

const refusing =
  (status: RefusalStatus) =>
  (code: string, message: string, hint?: string, data?: Record<string, unknown>): Refusal =>
    new Refusal(status, code, message, { hint, data })

export const forbidden = refusing(403)
export const conflict = refusing(409)

/** A field of the right type with a value that is not allowed. */
export const invalid = (field: string, message: string, hint?: string): Refusal =>
  new Refusal(422, 'invalid_field', `${field} ${message}`, { issues: [{ field, message }], hint })

export const invalidFields = (issues: Issue[]): Refusal => {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return new Refusal(422, 'invalid_field', `${first!.field} ${first!.message}${more}`, { issues })
}
