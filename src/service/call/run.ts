import type { Action } from './actions.ts'
import { Refusal } from '../../core/refusal.ts'
import { appendAudit, noteCommitted } from './audit.ts'
import { type Call, type Handler, type Outside, prepare, type Requirement } from './call.ts'
import { actorOfKey, actorOnTerminal, type Caller } from './caller.ts'
import { namedOrganization } from './named-organization.ts'
import { type Preconditions, readPreconditions, requireLiveCaller } from './preconditions.ts'
import type { Service } from './service.ts'
import { routineActions } from './routine-actions.ts'

/** One call of one operation. */
type Invocation = {
  /** The operation, as the audit names it. */
  action: Action
  caller: Caller
  requestId: string
  /** Names of the fields in the input; the audit lists them as changed unless the handler says otherwise. */
  fieldNames: string[]
  /** The approval request that a person approved for this call, if the caller named one. */
  approval?: string | undefined
  pager?: Paging | undefined
  /** Aborted when the client disconnects. A function, like `ip`, because few handlers use it and it is not free. */
  signal?: () => AbortSignal
  ip?: (() => string | undefined) | undefined
}

type Paging = Pick<Call, 'page' | 'paged' | 'pagedByTime'>

/** Of an operation that is not a list. */
const onePage: Paging = { page: { after: 0, limit: 0 }, paged: (rows) => rows, pagedByTime: (rows) => rows }

const actorOf = ({ name, keyId, person, ownerId, signedInWith }: Caller): string => {
  if (person) return name
  return ownerId === undefined || signedInWith === undefined
    ? actorOfKey(name, keyId)
    : actorOnTerminal(ownerId, keyId)
}

/** One run of a handler in one transaction, with its effects. They are dropped if the transaction is undone and run again. */
export type Attempt = {
  call: Call
  /** The organizations whose audit it wrote to. */
  changed: Set<number>
  demanded: Requirement[]
  afterCommit: Set<() => void>
  /** Headers of the response. */
  headers: Record<string, string>
}

export const createAttempt = (
  service: Service,
  { action, caller, requestId, fieldNames, approval, pager = onePage, ip }: Invocation,
  { db, now, preconditions }: Pick<Call, 'db' | 'now' | 'preconditions'>,
): Attempt => {
  const changed = new Set<number>()
  const demanded: Requirement[] = []
  const afterCommit = new Set<() => void>()
  const headers: Record<string, string> = {}
  const call: Call = {
    service,
    db,
    keyring: service.keyring,
    caller,
    ip,
    now,
    preconditions,
    requestId,
    ...pager,
    audit: async (orgId, subject, changes = fieldNames, actor = actorOf(caller)) => {
      const all = approval === undefined ? changes : [...changes, `approval:${approval}`]
      const { keyring } = service
      const end = await appendAudit(
        { db, keyring },
        { orgId, at: now, actor, action, subject, changes: all, requestId },
      )
      changed.add(orgId)
      afterCommit.add(() => noteCommitted(keyring, orgId, end))
    },
    demandApproval: (requirement) => void demanded.push(requirement),
    wake: (request) => void afterCommit.add(() => service.signals.wake(request)),
    claim: (orgId, quota, more) => service.claim({ db, now }, orgId, quota, more),
    afterCommit: (effect) => void afterCommit.add(effect),
    send: async (message) => {
      const message_id = await service.accept({ db, now }, message)
      afterCommit.add(service.deliver)
      return message_id
    },
    header: (name, value) => void (headers[name] = value),
  }
  return { call, changed, demanded, afterCommit, headers }
}

const outsideOf = (service: Service, { caller, signal, ip }: Invocation): Outside => ({
  service,
  caller,
  signal,
  ip,
})

/** Runs a handler that changes nothing. */
export const runRead = async <I, D>(
  service: Service,
  invocation: Invocation,
  handler: Handler<I, D>,
  input: I,
): Promise<D | Refusal> => {
  const { storage } = service
  const work = await prepare(handler, input, outsideOf(service, invocation))
  const now = storage.now()
  return storage.read((db) => work(createAttempt(service, invocation, { db, now }).call))
}

/** The result of a handler in one attempt, with its effects. */
export type Worked<D> = Omit<Attempt, 'call'> & { data: D | Refusal }

/**
 * Runs a handler in one transaction. `within` can check something before it and store its result after it. Waiting callers
 * and phones are notified only after the commit. `org` is derived from the operation unless it is set.
 */
export const runWrite = async <I extends object, D, R>(
  service: Service,
  invocation: Invocation & { org?: number },
  handler: Handler<I, D>,
  input: I,
  within: (call: Call, work: () => Promise<Worked<D>>) => Promise<R>,
): Promise<R> => {
  const { storage } = service
  const work = await prepare(handler, input, outsideOf(service, invocation))
  const org = invocation.org ?? (await namedOrganization(storage, invocation, input))
  const { result, changed, afterCommit } = await storage.write(
    async (db, preconditions: Preconditions) => {
      const { caller } = invocation
      const now = storage.now()
      requireLiveCaller(preconditions, caller, now)
      const { call, ...effects } = createAttempt(service, invocation, { db, now, preconditions })
      const result = await within(call, async () => {
        const data = await work(call)
        // Undoes the transaction: nothing changes without an audit row.
        if (effects.changed.size === 0 && !(data instanceof Refusal))
          throw new Error(`${invocation.action} left no audit row`)
        return { data, ...effects }
      })
      return { result, changed: effects.changed, afterCommit: effects.afterCommit }
    },
    {
      org,
      routine: routineActions.includes(invocation.action),
      opening: (db) => readPreconditions(db, invocation.caller, org),
    },
  )
  for (const one of changed) service.signals.committed(one)
  for (const effect of afterCommit) effect()
  return result
}
