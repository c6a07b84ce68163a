import type { Data, Effect, Input, Operation } from '../contract/operation.ts'

/**
 * A 2xx answer whose status is `success`; anything else is thrown as an SvcError. Only the envelope is checked: another
 * service of the contract may leave out data or fields of it. `answered.ts` reads what svc goes on to work with.
 */
export type Answer<D = unknown> = {
  httpStatus: number
  requestId?: string | undefined
  /** The service's clock, as its `Date` header tells it. */
  date?: string
  /** Of a list, where the service says that it goes on: in the order of the list, and before it. */
  links?: { next?: string | undefined; prev?: string | undefined }
  /** As the server sent it, unknown fields included. */
  envelope: { status: string; message: string; data?: D; [field: string]: unknown }
}

export type CallOptions = {
  /** Further fields that the table does not name. */
  extra?: Record<string, unknown>
  signal?: AbortSignal | undefined
  /** Of a write, instead of a random one: who says the same after a crash repeats that very request. */
  idempotencyKey?: string
}

/** An operation whose type is `Operation` takes any fields, and its data is unknown. */
export type Client = {
  /** Sends one operation. Lists that come in pages (`Link: rel="next"`) are joined unless `limit` is in the input. */
  call<O extends Operation>(operation: O, input: Input<O>, options?: CallOptions): Promise<Answer<Data<O>>>
  /** As `call`, page by page and never joined: with `limit` in the input, no more rows than that are held at once. */
  pages<O extends Operation>(
    operation: O,
    input: Input<O>,
    options?: CallOptions,
  ): AsyncGenerator<Answer<Data<O>>, void>
  /** Any route, for `svc api`: the answer whatever its status is, redirects not followed. */
  raw(
    request: {
      method: string
      path: string
      body?: string | undefined
      headers?: Record<string, string>
      effect: Effect
    },
    options?: { signal?: AbortSignal | undefined },
  ): Promise<{ status: number; headers: Record<string, string>; body: string }>
  close(): Promise<void>
}
