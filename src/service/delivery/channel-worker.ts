import { addMs } from '../../core/iso-time.ts'
import type { Log } from '../../core/log.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Channel } from '../call/message.ts'
import type { Storage } from '../storage/storage.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { attemptToSend, nameOf } from './attempt.ts'
import { attemptsOf, isOver, verdictOf } from './retry-policy.ts'
import { claim, type Claimed, isDue, record } from './rows.ts'

export type WorkerOptions = {
  storage: Storage
  keyring: Pick<Keyring, 'unwrap'>
  log: Log
  random: () => number
  /** Of one attempt, milliseconds. */
  timeoutMs: number
}

/** One channel has so many attempts under way: a provider that hangs holds up no other channel. */
const atOnce = 8
/** Beyond the time of an attempt: after it, whoever took a message is dead. */
const leaseMarginMs = 30_000

/** Sends the messages of one channel as they become due. */
export const createChannelWorker = (
  channel: Channel,
  adapter: Adapter,
  { storage, keyring, log, random, timeoutMs }: WorkerOptions,
) => {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  // How attempts ended that could not be written down: known here, and so never sent again by this process.
  const unwritten = new Map<number, { row: Claimed; outcome: Outcome }>()
  const run: { looking?: Promise<void> | undefined; again: boolean; closed: boolean } = {
    again: false,
    closed: false,
  }

  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })

  const tell = ({ message_id, recipient }: Claimed, error: string, next: string): void =>
    warn(`${message_id}, ${channel} to ${recipient}: ${error}; ${next}`)

  const write = async (row: Claimed, outcome: Outcome): Promise<void> => {
    try {
      const verdict = await storage.write(
        async (db) => {
          const now = storage.now()
          // What stopped half-way goes out as soon as somebody is there again.
          const stopped = stopping.signal.aborted && outcome.state === 'retry'
          const one = stopped
            ? ({ state: 'queued', error: outcome.error, next_at: now } as const)
            : verdictOf(row, outcome, now, random)
          await record(db, row, one, now)
          return one
        },
        { org: 0 },
      )
      unwritten.delete(row.id)
      if (verdict.state === 'queued') tell(row, verdict.error, `next attempt at ${verdict.next_at}`)
      else if (verdict.state !== 'sent') tell(row, verdict.error, `gave up (${verdict.state})`)
    } catch (error) {
      if (!unwritten.has(row.id))
        warn(`${row.message_id} is ${outcome.state}, which cannot be recorded: ${nameOf(error)}`)
      unwritten.set(row.id, { row, outcome })
    }
  }

  const late = (row: Claimed) => (outcome: Outcome) => {
    if (outcome.state === 'sent' && !run.closed) track(write(row, outcome))
  }

  const outcomeOf = async (row: Claimed): Promise<Outcome> => {
    const known = unwritten.get(row.id)
    if (known) return known.outcome
    if (isOver(row.expires_at, storage.now())) return { state: 'retry', error: 'it has expired' }
    // Each attempt ended with the process that made it.
    if (row.attempts > attemptsOf(row.kind))
      return { state: 'retry', error: 'the service stopped before the provider answered' }
    const options = { adapter, keyring, timeoutMs, stopping: stopping.signal, late: late(row) }
    return attemptToSend(row, options)
  }

  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => {
      underWay.delete(tracked)
      wake()
    })
    underWay.add(tracked)
  }

  const look = async (): Promise<void> => {
    while (run.again && !run.closed) {
      run.again = false
      const limit = atOnce - underWay.size
      const now = storage.now()
      if (limit <= 0 || !(await storage.read((db) => isDue(db, { channel, now })))) continue
      const until = addMs(now, timeoutMs + leaseMarginMs)
      const rows = await storage.write((db) => claim(db, { channel, now, until, limit }), { org: 0 })
      for (const row of rows) track(outcomeOf(row).then((outcome) => write(row, outcome)))
      if (rows.length > 0) run.again = true
    }
  }

  /** Looks for what is due. A store that cannot be used now is looked at again with the next call. */
  const wake = (): void => {
    run.again = true
    run.looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        run.looking = undefined
        // Somebody called after the last look.
        if (run.again && !run.closed) wake()
      })
  }

  return {
    wake: (): void => {
      for (const { row, outcome } of unwritten.values()) track(write(row, outcome))
      if (!run.closed) wake()
    },
    /** Resolves when nothing is under way and nothing is due. */
    idle: async (): Promise<void> => {
      wake()
      while (run.looking || underWay.size > 0) await (run.looking ?? Promise.all(underWay))
    },
    /** Takes nothing more; what is under way has `graceMs` to end, and is put back then. */
    stop: async (graceMs: number): Promise<void> => {
      run.closed = true
      await run.looking
      const timer = setTimeout(() => stopping.abort(), graceMs)
      while (underWay.size > 0) await Promise.all(underWay)
      clearTimeout(timer)
      await Promise.all([...unwritten.values()].map(({ row, outcome }) => write(row, outcome)))
    },
  }
}

export type ChannelWorker = ReturnType<typeof createChannelWorker>
