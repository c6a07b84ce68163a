import { addMs, dayMs, hourMs } from '../../core/iso-time.ts'
import type { Log } from '../../core/log.ts'
import { createTally } from '../../core/tally.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Channel } from '../call/message.ts'
import type { Storage } from '../storage/storage.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { attemptToSend, nameOf } from './attempt.ts'
import { claim, type Claimed, isDue, record, type AttemptResult } from './rows.ts'

/** About three hours, on average. */
const usualAttempts = 15
const firstPauseMs = 2_000
const longestPauseMs = hourMs
/** Limits the time for which a provider can ask. */
const longestWaitMs = dayMs

/** A test message reports an error immediately. An event is tried until it expires. */
const maxAttempts = (kind: string): number =>
  kind === 'test' ? 1 : kind === 'event' ? Infinity : usualAttempts

/** Full jitter, so that messages that failed together are not sent again together. */
const pauseMs = (attempts: number, random: () => number): number =>
  random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1))

const hasExpired = (expires_at: string | null, now: string): boolean =>
  expires_at !== null && expires_at <= now

/** The state of a message after an attempt. `now` is ISO. */
const nextState = (
  { kind, attempts, expires_at }: Claimed,
  outcome: Outcome,
  now: string,
  random: () => number,
): AttemptResult => {
  if (outcome.state === 'sent')
    return { state: 'sent', provider_id: outcome.provider_id ?? null, wrapped: null, error: null }
  const { state, error } = outcome
  if (state === 'failed') return { state, error, wrapped: null }
  // The message stays for a while, so that an operator can fix the problem and send it again.
  if (attempts >= maxAttempts(kind))
    return { state: 'dead', error, ...(hasExpired(expires_at, now) && { wrapped: null }) }
  const at = Date.parse(now)
  const after_ms = Math.min(outcome.after_ms ?? 0, longestWaitMs)
  const left = expires_at === null ? Infinity : Date.parse(expires_at) - at
  if (after_ms >= left || left <= 0) return { state: 'dead', error, wrapped: null }
  const pause = Math.max(after_ms, Math.min(pauseMs(attempts, random), left))
  return { state: 'queued', error, next_at: new Date(at + Math.ceil(pause)).toISOString() }
}

export type WorkerOptions = {
  storage: Storage
  keyring: Pick<Keyring, 'unwrap'>
  log: Log
  random: () => number
  /** For one attempt. */
  timeoutMs: number
  /** Called when the result of an attempt is recorded, but that of a test message. */
  attempted?: ((channel: Channel, state: AttemptResult['state']) => void) | undefined
}

/** Attempts at the same time, in all and, if whoever receives can be slow, for each recipient or organization. */
type Lanes = { concurrency: number; perRecipient?: number; perOrganization?: number }

// Each channel has its own, so a provider that hangs delays no other channel. The receivers of webhooks are strangers to each
// other, so none of them delays another: an attempt that waits costs a connection. Each phone names its own push service, and
// an organization can have as many phones as it likes.
const standardLanes: Lanes = { concurrency: 8 }
const lanesOf: Partial<Record<Channel, Lanes>> = {
  webhook: { concurrency: 256, perRecipient: 4 },
  push: { concurrency: 256, perOrganization: 32 },
}

/** A process that claimed a message and has not recorded a result by then has died. */
const leaseMarginMs = 30_000

/** Sends the messages of one channel as they become due. */
export const createChannelWorker = (
  channel: Channel,
  adapter: Adapter,
  { storage, keyring, log, random, timeoutMs, attempted }: WorkerOptions,
) => {
  const stopping = new AbortController()
  const { concurrency, perRecipient, perOrganization = concurrency } = lanesOf[channel] ?? standardLanes
  const underWay = new Set<Promise<void>>()
  // Attempts under way.
  const recipients = createTally<string>()
  const organizations = createTally<number>()
  // Results that could not be recorded in the store. This process does not send these messages again.
  const unrecorded = new Map<number, { row: Claimed; outcome: Outcome }>()
  const run: { sending?: Promise<void> | undefined; again: boolean; closed: boolean } = {
    again: false,
    closed: false,
  }

  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })

  const write = async (row: Claimed, outcome: Outcome): Promise<void> => {
    try {
      const result = await storage.write(
        async (db) => {
          const now = storage.now()
          // A message that was interrupted is sent as soon as the service starts again.
          const stopped = stopping.signal.aborted && outcome.state === 'retry'
          const next = stopped
            ? ({ state: 'queued', error: outcome.error, next_at: now } as const)
            : nextState(row, outcome, now, random)
          await record(db, row, next, now)
          return next
        },
        { org: null, routine: true },
      )
      unrecorded.delete(row.id)
      // Whoever tests a channel sees the result, and nobody has to be told of it.
      if (row.kind !== 'test') attempted?.(channel, result.state)
      if (result.state === 'sent') return
      const next =
        result.state === 'queued' ? `next attempt at ${result.next_at}` : `gave up (${result.state})`
      warn(`${row.message_id}, ${channel} to ${row.recipient}: ${result.error}; ${next}`)
    } catch (error) {
      if (!unrecorded.has(row.id))
        warn(`${row.message_id} is ${outcome.state}, which cannot be recorded: ${nameOf(error)}`)
      unrecorded.set(row.id, { row, outcome })
    }
  }

  const attempt = async (row: Claimed): Promise<Outcome> => {
    const known = unrecorded.get(row.id)
    if (known) return known.outcome
    if (hasExpired(row.expires_at, storage.now())) return { state: 'retry', error: 'it has expired' }
    // Each earlier attempt ended with the process that made it.
    if (row.attempts > maxAttempts(row.kind))
      return { state: 'retry', error: 'the service stopped before the provider answered' }
    const onLate = (outcome: Outcome): void => {
      if (outcome.state === 'sent' && !run.closed) track(write(row, outcome))
    }
    return attemptToSend(row, { adapter, keyring, timeoutMs, stopping: stopping.signal, onLate })
  }

  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => {
      underWay.delete(tracked)
      wake()
    })
    underWay.add(tracked)
  }

  const sendTo = async (row: Claimed): Promise<void> => {
    recipients.add(row.recipient)
    organizations.add(row.org_id)
    try {
      await write(row, await attempt(row))
    } finally {
      recipients.remove(row.recipient)
      organizations.remove(row.org_id)
    }
  }

  const sendDue = async (): Promise<void> => {
    while (run.again && !run.closed) {
      run.again = false
      // Of an organization that is not busy yet, one claim takes no more than it may have.
      const limit = Math.min(concurrency - underWay.size, perOrganization)
      const now = storage.now()
      const oneEach = perRecipient === undefined ? undefined : { busy: recipients.atLeast(perRecipient) }
      const what = { channel, now, oneEach, busyOrganizations: organizations.atLeast(perOrganization) }
      if (limit <= 0 || !(await storage.read((db) => isDue(db, what)))) continue
      const until = addMs(now, timeoutMs + leaseMarginMs)
      const rows = await storage.write((db) => claim(db, { ...what, until, limit }), {
        org: null,
        routine: true,
      })
      for (const row of rows) track(sendTo(row))
      if (rows.length > 0) run.again = true
    }
  }

  /** Sends what is due. If the store is unavailable, the next call tries again. */
  const wake = (): void => {
    run.again = true
    run.sending ??= sendDue()
      .catch(() => undefined)
      .finally(() => {
        run.sending = undefined
        // There was a call after the last look.
        if (run.again && !run.closed) wake()
      })
  }

  return {
    wake: (): void => {
      for (const { row, outcome } of unrecorded.values()) track(write(row, outcome))
      if (!run.closed) wake()
    },
    /** Resolves when nothing is under way and nothing is due. */
    idle: async (): Promise<void> => {
      wake()
      while (run.sending || underWay.size > 0) await (run.sending ?? Promise.all(underWay))
    },
    /** Claims no more messages. What is under way has `graceMs` to end, and is then queued again. */
    stop: async (graceMs: number): Promise<void> => {
      run.closed = true
      await run.sending
      const timer = setTimeout(() => stopping.abort(), graceMs)
      while (underWay.size > 0) await Promise.all(underWay)
      clearTimeout(timer)
      await Promise.all([...unrecorded.values()].map(({ row, outcome }) => write(row, outcome)))
    },
  }
}

export type ChannelWorker = ReturnType<typeof createChannelWorker>
