import type { Db } from '../storage/schema.ts'
import { appendAudit } from './audit.ts'
import type { Call, Requirement } from './call.ts'
import type { Caller } from './caller.ts'
import type { Service } from './service.ts'

/** One call of one operation. */
export type Asked = {
  /** The operation, as the audit names it. */
  action: string
  caller: Caller
  requestId: string
  /** Names of the fields that the caller gave: what an audit row says was changed unless the handler knows better. */
  given: string[]
  /** The request that a person approved for this, where the caller named one and it was checked. */
  approval?: string | undefined
  pager?: Paging
  /** Aborted when the client has gone. A function, as few handlers look and it costs something; `ip` too. */
  signal?: () => AbortSignal
  ip?: () => string | undefined
}

type Paging = Pick<Call, 'page' | 'paged' | 'pagedByTime'>

const onePage: Paging = { page: { after: 0 }, paged: (rows) => rows, pagedByTime: (rows) => rows }

const actorOf = ({ name, keyId, person }: Caller): string => (person ? name : `${name} (key ${keyId})`)

/**
 * One attempt at a call, in one transaction: what its handler works with, and what it left behind. Another attempt gets
 * another, and what an attempt left that was undone is forgotten.
 */
export type Attempt = {
  call: Call
  /** The organizations whose audit it wrote to. */
  changed: Set<number>
  demanded: Requirement[]
  /** What is done once the transaction is committed. */
  afterCommit: Set<() => void>
  /** Headers of the answer. */
  headers: Record<string, string>
}

export const createAttempt = (
  service: Service,
  { action, caller, requestId, given, approval, pager = onePage }: Asked,
  db: Db,
  now: string,
): Attempt => {
  const { publicUrl, dev, deviceProof, keyring, waiter, ring, pushKey, channels, deliver } = service
  const changed = new Set<number>()
  const demanded: Requirement[] = []
  const afterCommit = new Set<() => void>()
  const headers: Record<string, string> = {}
  const call: Call = {
    db,
    caller,
    now,
    requestId,
    publicUrl,
    dev,
    deviceProof,
    keyring,
    pushKey,
    page: pager.page,
    paged: pager.paged,
    pagedByTime: pager.pagedByTime,
    audit: async (orgId, subject, changes = given, actor = actorOf(caller)) => {
      const all = approval === undefined ? changes : [...changes, `approval:${approval}`]
      await appendAudit(db, { orgId, at: now, actor, action, subject, changes: all, requestId })
      changed.add(orgId)
    },
    demandApproval: (requirement) => void demanded.push(requirement),
    wake: (request) => void afterCommit.add(() => waiter.wake(request)),
    claim: (orgId, quota, more) => service.claim({ db, now }, orgId, quota, more),
    ring: (prompt) => void afterCommit.add(() => ring(prompt)),
    canSend: (channel) => channels.has(channel),
    deliver: () => void afterCommit.add(deliver),
    send: async (message) => {
      const message_id = await service.accept({ db, now }, message)
      afterCommit.add(deliver)
      return message_id
    },
    header: (name, value) => void (headers[name] = value),
  }
  return { call, changed, demanded, afterCommit, headers }
}
