import type { Data, Effect, Input, Operation } from '../contract/operation.ts'
import type { HttpResponse } from '../core/transport.ts'

/**
 * A 2xx answer with the status `success`; anything else is thrown as an SvcError. Only the envelope is checked: a
 * third-party service may leave out data or fields of it. `answer-data.ts` reads the data that svc needs.
 */
export type Answer<D = unknown> = {
  httpStatus: number
  requestId?: string | undefined
  /** The clock of the service: its `Date` header. */
  date?: string
  /** The next and the previous page of a list. */
  links?: { next?: string | undefined }
  /** As the server sent it, unknown fields included. */
  envelope: { status: string; message: string; data?: D; [field: string]: unknown }
}

export type CallOptions = {
  /** Further fields that the table does not name. */
  extra?: Record<string, unknown>
  signal?: AbortSignal | undefined
  /** For a write, instead of a random key: with the same key, a later run repeats the same request. */
  idempotencyKey?: string
  /** For a write, instead of that of the run: the approval that it uses, as `apr_…` or `apr_…:17`. */
  approval?: string | undefined
}

export type RawRequest = {
  method: string
  path: string
  body?: string | undefined
  headers?: Record<string, string>
  effect: Effect
}

/** An operation of the plain type `Operation` takes any fields and returns unknown data. */
export type Client = {
  /** Sends one operation. Lists that come in pages (`Link: rel="next"`) are joined unless `limit` is in the input. */
  call<O extends Operation>(operation: O, input: Input<O>, options?: CallOptions): Promise<Answer<Data<O>>>
  /** Like `call`, but yields each page, of at most 1,000 rows or `limit`; a third-party service may send one page with all rows. */
  pages<O extends Operation>(
    operation: O,
    input: Input<O>,
    options?: CallOptions,
  ): AsyncGenerator<Answer<Data<O>>, void>
  /** Calls any route, for `svc api`: returns the answer whatever its status, and follows no redirect. */
  raw(request: RawRequest, options?: Pick<CallOptions, 'signal'>): Promise<HttpResponse>
  close(): Promise<void>
}
