import type { NodeMessage, WakeTarget } from '../../storage/node-message.ts'
import type { Storage } from '../../storage/storage.ts'
import { createTopics, type Listening } from './topics.ts'

/** What a person decided, and how long they took. */
export type Decided = { status: 'approved' | 'denied'; seconds: number }

/** Why somebody is woken; `decided` if a person decided. */
export type Wake = WakeTarget & { decided?: Decided }

type Kind = NodeMessage['kind']
type ValueOf<K extends Kind> = Extract<NodeMessage, { kind: K }>['value']

const requestPrefix = 'request:'
const auditPrefix = 'audit:'

/** An approval request: its end. */
export const requestTopic = (request_id: string): string => requestPrefix + request_id

/** The page of an approver: its pending requests, its person and its devices. */
export const inboxTopic = ({ org_id, user_id }: { org_id: number; user_id: number }): string =>
  `inbox:${org_id}:${user_id}`

/** The audit of an organization, or of all. */
export const auditTopic = (org: number | '*'): string => auditPrefix + org

/** Commits that are this close together, in milliseconds, wake listeners once. */
const togetherMs = 20

/**
 * A change of an inbox makes everybody who waits for it read it again, and so does an event. One tab of a browser waits for all
 * tabs, so this leaves room for connections that a proxy keeps open after the page is closed.
 */
const atMost = { session: 6, events: 100 }

/** The sessions or organizations in which a wait counts. */
export type Limited = { what: keyof typeof atMost; ids: readonly number[] }

/** Notes a wait until `close`. `signal` aborts when newer waits take its place, and it is then answered early. */
const createWaitLimits = () => {
  const waiting = new Map<string, Set<AbortController>>()
  return ({ what, ids }: Limited) => {
    const ours = new AbortController()
    const names = ids.map((id) => `${what} ${id}`)
    for (const name of names) {
      const all = waiting.get(name) ?? new Set()
      waiting.set(name, all.add(ours))
      if (all.size > atMost[what]) [...all][0]!.abort()
    }
    const close = (): void => {
      for (const name of names) {
        const all = waiting.get(name)
        all?.delete(ours)
        if (all?.size === 0) waiting.delete(name)
      }
    }
    ours.signal.addEventListener('abort', close)
    return { signal: ours.signal, close }
  }
}

type Options = {
  /** Finds what ended without a wake among the requests that are listened for. Runs only while somebody waits. */
  poll?: ((requests: string[]) => Promise<Iterable<WakeTarget>>) | undefined
  /** Milliseconds. */
  every?: number | undefined
  /** Counts what a person decided at this node. */
  count?: ((decided: Decided) => void) | undefined
}

/** Says after a commit what has changed, here and at the other nodes of the store, and wakes whoever waits for it. */
export const createSignals = (
  storage: Pick<Storage, 'publish' | 'subscribe'>,
  { poll, every = 250, count }: Options = {},
) => {
  // Those who wait for a person, whom the poll serves, too; and those who read an audit.
  const waiting = createTopics(() => updateTimer())
  const audits = createTopics()
  const changed = new Set<number>()
  let together: NodeJS.Timeout | undefined
  let timer: NodeJS.Timeout | undefined
  let polling = false
  let stopped = false

  const updateTimer = (): void => {
    if (waiting.count === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (poll) timer ??= setInterval(() => void pollOnce(), every).unref()
  }

  const wakeHere = (request: WakeTarget): void => {
    if (request.request_id !== undefined) waiting.release(requestTopic(request.request_id))
    for (const user_id of request.users) waiting.release(inboxTopic({ org_id: request.org_id, user_id }))
  }

  const requests = (): string[] => waiting.names().filter((name) => name.startsWith(requestPrefix))

  const pollOnce = async (): Promise<void> => {
    if (polling || !poll || waiting.count === 0) return
    polling = true
    // If the store cannot be read now, the next tick reads it.
    const ended = await poll(requests().map((name) => name.slice(requestPrefix.length))).catch(() => [])
    polling = false
    for (const request of ended) wakeHere(request)
  }

  /** Wakes may have been lost: wakes every inbox, and looks now for requests that have ended. */
  const recheck = (): void => {
    const polled = new Set(poll && requests())
    for (const name of waiting.names()) if (!polled.has(name)) waiting.release(name)
    void pollOnce()
  }

  const tellAudits = (): void => {
    together = undefined
    for (const org of changed) audits.release(auditTopic(org))
    changed.clear()
    audits.release(auditTopic('*'))
  }

  /** Sends a message to the other nodes. It may be lost. */
  const tell = <K extends Kind>(kind: K, value: ValueOf<K>): void =>
    storage.publish({ kind, value } as NodeMessage)
  /** Calls `receive` for each message of a kind from another node. */
  const hear = <K extends Kind>(kind: K, receive: (value: ValueOf<K>) => void): void =>
    storage.subscribe((message) => {
      if (message.kind === kind) receive(message.value as ValueOf<K>)
    })
  hear('wake', wakeHere)
  hear('lost', recheck)

  return {
    /** Wakes the callers that wait for the request, if it is one, and the pages of its people, at every node. */
    wake: ({ decided, request_id, org_id, users }: Wake): void => {
      // A caller may pass more. Nothing but the ids leaves this process.
      const target = { ...(request_id !== undefined && { request_id }), org_id, users }
      wakeHere(target)
      if (decided) count?.(decided)
      tell('wake', target)
    },
    /** After a commit of this process: wakes those who read the audit of the organization as it grows. */
    committed: (org: number): void => {
      changed.add(org)
      together ??= setTimeout(tellAudits, togetherMs).unref()
    },
    /** Starts to listen to these topics. `waitFor` is the loop that does it. */
    listen: (topics: readonly string[]): Listening =>
      (topics[0]?.startsWith(auditPrefix) ? audits : waiting).listen(topics),
    limits: createWaitLimits(),
    tell,
    hear,
    /** Releases everybody, now and from now on, because the service stops. */
    stop: (): void => {
      stopped = true
      clearTimeout(together)
      waiting.stop()
      audits.stop()
    },
    get stopped(): boolean {
      return stopped
    },
    /** The number of callers and pages that wait. */
    get waiting(): number {
      return waiting.count
    },
  }
}

export type Signals = ReturnType<typeof createSignals>

/** A store that signals each commit that appended to an audit. */
export const signalCommits = (storage: Storage, { committed }: Pick<Signals, 'committed'>): Storage => ({
  ...storage,
  write: async (work, options) => {
    const result = await storage.write(work, options)
    if (options.org !== null) committed(options.org)
    return result
  },
})
