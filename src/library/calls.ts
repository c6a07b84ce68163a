import type { Data, Input, Operation } from '../contract/operation.ts'
import type { OperationId, Table } from '../contract/table.ts'
import type { CallOptions } from './options.ts'

type Call<O extends Operation> =
  Record<never, never> extends Input<O>
    ? (input?: Input<O>, options?: CallOptions) => Promise<Data<O>>
    : (input: Input<O>, options?: CallOptions) => Promise<Data<O>>

/**
 * The operations by their ids, as in `/openapi.json`, without those that only the approver page can call. In the package,
 * `scripts/library-types.mjs` writes them out.
 */
export type Operations = {
  [K in OperationId as Table[K] extends { session: true } ? never : K]: Call<Table[K]>
}

/** The operations that answer with a list. */
export type ListOperation = {
  [K in keyof Operations]: Awaited<ReturnType<Operations[K]>> extends readonly unknown[] ? K : never
}[keyof Operations]
