import type { Exit } from './exit-codes.ts'

/** One problem of one field, named as the user typed or sent it. */
export type Issue = { field: string; message: string }

type Details = {
  /** More of what happened, for a person. */
  detail?: string | undefined
  /** The next command to type. */
  hint?: string | undefined
  issues?: Issue[] | undefined
  request_id?: string | undefined
  /** The HTTP status of the answer. */
  http_status?: number
  /** `Retry-After` of the answer, milliseconds. */
  retry_after_ms?: number | undefined
  /** The `data` of the answer. */
  data?: Record<string, unknown>
  cause?: unknown
}

/** The only error that the command line shows: what happened, what to do next, and how to exit. */
export class SvcError extends Error {
  override readonly name = 'SvcError'
  readonly exit: Exit
  /** Stable snake_case word for scripts. */
  readonly code: string
  declare readonly detail?: string
  declare readonly hint?: string
  declare readonly issues?: Issue[]
  declare readonly request_id?: string
  declare readonly http_status?: number
  declare readonly retry_after_ms?: number
  declare readonly data?: Record<string, unknown>

  constructor(exit: Exit, code: string, message: string, { cause, ...details }: Details = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.exit = exit
    this.code = code
    // A program that prints the error sees only the details that there are.
    for (const [name, value] of Object.entries(details))
      if (value !== undefined) Object.assign(this, { [name]: value })
  }

  /** A copy with some details replaced. */
  with({ message = this.message, ...details }: Details & { message?: string }): SvcError {
    return new SvcError(this.exit, this.code, message, { ...this, cause: this, ...details })
  }
}

/** The input of a person is wrong, and nothing was sent. */
export const usageError = (message: string, hint?: string): SvcError =>
  new SvcError('usage', 'usage', message, { hint })

/** A server answered something else than it must. */
export const unexpectedAnswer = (message: string, details?: Details): SvcError =>
  new SvcError('failed', 'unexpected_answer', message, details)

/** The work cannot be done; `hint` says what to do. */
export const failure = (code: string, message: string, hint: string): SvcError =>
  new SvcError('failed', code, message, { hint })

export const interrupted = (): SvcError => new SvcError('interrupted', 'interrupted', 'Interrupted')

/** Esc at a question, which can also go back to the one before. */
export const escaped = (): SvcError => new SvcError('interrupted', 'escaped', 'Interrupted')
