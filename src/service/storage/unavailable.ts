import { Refusal } from '../../core/refusal.ts'

/** A store that cannot be used right now: nothing is wrong with the request. Each engine says which of its errors mean that. */
export const unavailable = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal(503, 'storage_unavailable', 'The store cannot be used right now; nothing was changed', {
      hint: 'Check that the disk of the data directory has room and is writable, then try again',
    }),
    { cause },
  )
