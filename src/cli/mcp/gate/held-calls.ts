import { setTimeout as wait } from 'node:timers/promises'
import { secondsLeft, type Backend } from '../../../asking/backend.ts'
import { silent, type Progress } from '../../../asking/progress.ts'
import type { ApprovalRecord } from '../../../contract/approval.ts'
import { SvcError } from '../../../core/errors.ts'
import { safeLine } from '../../../core/safe-text.ts'
import { canonicalData, type Subject } from '../../../receipt/subject.ts'
import { timeLeft } from '../../approve/progress.ts'
import { approverText } from '../../approve/approver-text.ts'
import { notApprovedText, pendingText } from './answers.ts'
import type { ApprovedDefinitions } from './approved-definitions.ts'
import { subjectOf } from './call-subject.ts'
import type { Definitions } from './definitions.ts'
import type { ToolCall } from './message.ts'
import type { Rules } from './rules.ts'

type Approver = Rules['otherwise']['approval']

/** Asks a person; throws unless the approval was given and used up. `recheck` runs just before it is used. */
export type GetConsumed = (
  subject: Subject,
  approver: Approver,
  run: { progress: Progress; signal: AbortSignal; recheck(): Promise<void> },
) => Promise<void>

type Verdict = { approved: true } | { approved: false; text: string }

type Parts = {
  server: string
  definitions: Definitions
  approved: ApprovedDefinitions
  getConsumed: GetConsumed
  clock: Pick<Backend, 'now'>
  /** How long a call waits for which the client gets no progress. */
  softMs?: number
}

/** Most clients give up after 60 seconds without progress. */
const softWaitMs = 50_000
const progressMs = 10_000
/** How long a decision that no call waited for is kept for the same call. */
const keptMs = 120_000
const mostChanges = 3

const toolChanged = 'tool_changed'
const changedAgain = (): SvcError =>
  new SvcError('refused', toolChanged, 'The server changed the tool each time after people had approved it')

/** A request for an approval, and the call that waits for it. */
type Held = {
  call: ToolCall | undefined
  /** The approval is being used up: the call can no longer stop waiting. */
  using: boolean
  record: ApprovalRecord | undefined
  abort: AbortController
  outcome: Promise<unknown>
  /** Resolves if the person has to type a number, which somebody has to show. */
  numbered: Promise<'soft'>
  attach(call: ToolCall, say: (text: string) => void): void
  detach(): void
}

/**
 * Holds calls until a person has approved them. A call whose client would give up gets an answer that says so, and the request
 * stays open: the same call, made again, waits for the same decision.
 */
export const createHeldCalls = ({ softMs = softWaitMs, ...parts }: Parts) => {
  const { server, definitions, approved, getConsumed, clock } = parts
  const open = new Map<string, Held[]>()
  const running = new Set<Promise<unknown>>()

  const start = (call: ToolCall, approver: Approver, leave: () => void): Held => {
    let say: ((text: string) => void) | undefined
    let attached: (() => void) | undefined
    let numbered: ((word: 'soft') => void) | undefined
    const abort = new AbortController()
    const { signal } = abort

    /** Resolves when a call waits for the decision. */
    const hasCall = async (): Promise<void> => {
      if (held.call) return
      const late = wait(keptMs, 'late', { signal, ref: false }).catch(() => 'late')
      const first = await Promise.race([late, new Promise<void>((resolve) => (attached = resolve))])
      if (first === 'late')
        throw new SvcError('expired', 'expired', 'The call was not made again', {
          detail: 'It was approved, but nobody waited for it any more.',
        })
    }

    const show = (record: ApprovalRecord, more = ''): void => {
      held.record = record
      const number = record.number === null ? '' : ` Number to type on the phone: ${safeLine(record.number)}.`
      say?.(
        `Waiting for ${approverText(record)} to approve ${call.name}, ${timeLeft(secondsLeft(record, clock))}.${number}${more}`,
      )
    }
    const progress: Progress = {
      ...silent,
      requested: (record) => {
        show(record)
        if (record.number !== null) numbered?.('soft')
      },
      waiting: (record) => void (held.record = record),
      lost: (record) => show(record, ' No connection to the service.'),
      reconnected: show,
      decided: (record) => void (held.record = record),
    }
    const ticking = setInterval(() => held.record?.status === 'pending' && show(held.record), progressMs)

    const run = async (): Promise<void> => {
      let before = approved.of(call.name)
      for (let round = 1; ; round++) {
        const now = await definitions.read(call.name, call.envelope)
        const recheck = async (): Promise<void> => {
          await hasCall()
          // Before the definition is read, so that the call cannot leave while the approval is used up.
          held.using = true
          const { sha256 } = await definitions.read(call.name, call.envelope)
          if (sha256 !== now.sha256) throw changedAgain()
        }
        try {
          await getConsumed(subjectOf(call, server, { now, before }), approver, { progress, signal, recheck })
          approved.keep(call.name, now)
          return
        } catch (error) {
          held.using = false
          const isChange = error instanceof SvcError && error.code === toolChanged
          if (!isChange || round === mostChanges) throw error
          // Nothing was used. The person is asked again, and sees what has changed since.
          before = now
        }
      }
    }

    const held: Held = {
      call: undefined,
      using: false,
      record: undefined,
      abort,
      outcome: Promise.resolve(),
      numbered: new Promise((resolve) => (numbered = resolve)),
      attach: (one, tell) => {
        held.call = one
        say = tell
        attached?.()
        if (held.record) show(held.record)
      },
      detach: () => {
        held.call = undefined
        say = undefined
      },
    }
    held.outcome = run()
      .then(
        () => undefined,
        (error: unknown) => error ?? new Error('failed'),
      )
      .finally(() => {
        clearInterval(ticking)
        if (held.call === undefined) setTimeout(leave, keptMs).unref()
      })
    running.add(held.outcome)
    void held.outcome.then(() => running.delete(held.outcome))
    return held
  }

  const leave = (key: string, held: Held): void => {
    const others = (open.get(key) ?? []).filter((one) => one !== held)
    if (others.length > 0) open.set(key, others)
    else open.delete(key)
  }

  const find = (key: string, call: ToolCall, approver: Approver): { held: Held; isNew: boolean } => {
    const same = open.get(key) ?? []
    const waiting = same.find((one) => one.call === undefined)
    if (waiting) return { held: waiting, isNew: false }
    const held: Held = start(call, approver, () => leave(key, held))
    open.set(key, [...same, held])
    return { held, isNew: true }
  }

  /** Waits until the call is decided, the client cancels it, or the client would give up. */
  const hold = async (
    call: ToolCall,
    approver: Approver,
    { signal, say }: { signal: AbortSignal; say(text: string): void },
  ): Promise<Verdict> => {
    const key = canonicalData([call.name, call.arguments, call.parameters ?? null, approver])
    const { held, isNew } = find(key, call, approver)
    held.attach(call, say)
    const cancel = (): void => held.abort.abort()
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    const ended = new AbortController()
    try {
      const hasProgress = call.progressToken !== undefined
      let early = isNew && !hasProgress ? [held.numbered] : []
      for (;;) {
        const soft = wait(softMs, 'soft', { signal: ended.signal }).catch(() => 'soft')
        const outcome = await Promise.race([soft, held.outcome, ...early])
        // It stays resolved, also for a call that is cancelled.
        early = []
        const { record } = held
        const gives = outcome === 'soft' && (!hasProgress || record?.number) && !held.using && record
        if (gives && !signal.aborted) {
          held.detach()
          return {
            approved: false,
            text: pendingText(call.name, { until: record.expires_at, number: record.number }),
          }
        }
        if (outcome === 'soft') continue
        leave(key, held)
        return outcome === undefined
          ? { approved: true }
          : { approved: false, text: notApprovedText(call.name, outcome) }
      }
    } finally {
      ended.abort()
      signal.removeEventListener('abort', cancel)
    }
  }

  return {
    hold,
    /** Withdraws all requests, and waits until this is done. */
    end: async (): Promise<void> => {
      for (const held of [...open.values()].flat()) held.abort.abort()
      await Promise.all(running)
    },
  }
}
