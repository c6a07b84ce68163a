import type { Channel, Message } from '../call/message.ts'

/**
 * The result of one attempt. `sent`: the provider accepted the message. `failed`: it never will. `retry`: it may later,
 * `after_ms` at the earliest. An error is stored and shown, so it contains no secret and nothing of the message.
 */
export type Outcome =
  | { state: 'sent'; provider_id?: string | undefined }
  | { state: 'failed' | 'retry'; error: string; after_ms?: number | undefined }

export type Attempt = {
  /** The same at every attempt, so that a provider can recognize a repeat. */
  id: string
  /** From 1. */
  attempt: number
  /** Aborted when its time is over, or the service stops. */
  signal: AbortSignal
}

/** Hands a message to a provider, once. An exception counts as `retry`. */
export type Adapter = (message: Message, attempt: Attempt) => Promise<Outcome>

export type Adapters = Partial<Record<Channel, Adapter>>
