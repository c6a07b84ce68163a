import type { Channel, Message } from '../call/message.ts'

/**
 * What became of one attempt. `sent`: the provider has taken it over. `failed`: it never will. `retry`: later perhaps,
 * `after_ms` at the earliest. An error is kept and shown: it holds no secret and nothing of the message.
 */
export type Outcome =
  | { state: 'sent'; provider_id?: string | undefined }
  | { state: 'failed' | 'retry'; error: string; after_ms?: number | undefined }

export type Attempt = {
  /** The same at every attempt, so that a provider can tell a repeat. */
  id: string
  /** From 1. */
  attempt: number
  /** Aborted when its time is over, or the service stops. */
  signal: AbortSignal
}

/** Hands a message to a provider, once. What it throws counts as `retry`. */
export type Adapter = (message: Message, attempt: Attempt) => Promise<Outcome>

export type Adapters = Partial<Record<Channel, Adapter>>
