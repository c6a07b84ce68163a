import type { Context } from 'hono'
import { needsConfirmation, type Operation } from '../../contract/operation.ts'
import type { OperationId } from '../../contract/table.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import { proveApproval, proveForRow } from '../approvals/authentic.ts'
import { createEnforcement } from '../approvals/enforcement.ts'
import { reasonHeader } from '../approvals/held-reason.ts'
import { equalOf, proveRepeated } from '../approvals/page-write.ts'
import { approvalHeader, readReference } from '../approvals/reference.ts'
import { ApprovalRequired } from '../approvals/required-approval.ts'
import type { Call, Handler } from '../call/call.ts'
import { type Authenticated, isOperator, signatureRequired } from '../call/caller.ts'
import { unauthenticated } from '../call/preconditions.ts'
import { createIdEncoder } from '../call/row-ids.ts'
import { runRead, runWrite, type Worked } from '../call/run.ts'
import type { Service } from '../call/service.ts'
import { refuseForeignTenant } from '../call/tenant.ts'
import { operatorHint, requireScope } from '../keys/scopes.ts'
import { isBatch, listsOf, refuseBody } from './body.ts'
import { answer, type Answered, answerText, type Envelope, success } from './envelope.ts'
import { createSecretStripper, findResponse, storeResponse, toRepeatable } from './idempotency.ts'
import { createInputReader, type ReadInput } from './input.ts'
import { preferredRows, readList, type Reading } from './list-answer.ts'
import { linkHeader, type Pager, readCursor } from './paging.ts'
import type { OpenLists } from './open-lists.ts'
import { createSharedBody, type ResponseCache } from './response-cache.ts'
import type { Turns } from '../limits/turns.ts'

/** A request whose caller is known. `origin` is the one under which the caller reached the service. */
export type AuthenticatedRequest = {
  context: Context
  caller: Authenticated
  trace: Answered
  origin: string
  /** The client's address. A function, because few operations need it. */
  ip(): string | undefined
  /** The caller as of now; undefined if the key or the session has ended. */
  renew(): Promise<Authenticated | undefined> | Authenticated | undefined
  /** Notes that a list could not be sent to its end; its status was sent before. */
  broken(error: unknown): void
}

type Fields = Record<string, unknown>

/** All that a response depends on in addition to the store: the caller, the URL and the origin. */
const cacheKey = ({ caller, origin, context }: AuthenticatedRequest): string =>
  `${caller.keyId} ${caller.orgId} ${origin} ${context.req.url}`

const replayed = ({ trace }: AuthenticatedRequest, kept: Envelope): Response =>
  answer(200, kept, trace, { 'idempotent-replayed': 'true' })

/** What all operations share. */
type Shared = { service: Service; responses: ResponseCache; turns: Turns; openLists: OpenLists }

/** Handles the requests of one operation of the table whose caller is known. Compiled once for each operation. */
export const createOperationRoute = (
  id: OperationId,
  operation: Operation,
  handler: Handler<Fields, unknown>,
  { service, responses, turns, openLists }: Shared,
) => {
  const { readInput, checkReturned } = createInputReader(operation)
  const withTextIds = createIdEncoder(operation.data)
  const withoutSecrets = createSecretStripper(operation.data)
  const enforcement = createEnforcement(id)
  const { storage, keyring } = service
  // Each row of a batch is a request later.
  const lists = isBatch(operation) ? [] : listsOf(operation)
  const objectsIn = (input: Fields): number =>
    lists.reduce((sum, name) => sum + ((input[name] as unknown[] | undefined)?.length ?? 0), 0)
  const oldestStored = (now: string): string => addMs(now, -service.periods.idempotencyMs)
  const { shape } = operation.input._zod.def
  const [isList, byTime, canWait] = ['cursor' in shape, 'since' in shape, 'wait_s' in shape]

  const checkAccess = (caller: Authenticated): void => {
    if (caller.person?.confirmed === false && needsConfirmation(operation)) throw signatureRequired()
    if (!operation.open && !operation.session) requireScope(operation, caller)
    if (operation.operator && !isOperator(caller))
      throw new Refusal(403, 'operator_only', 'This operation requires an operator key', {
        hint: operatorHint,
      })
  }

  const callDetails = (
    { context, caller, trace, ip }: AuthenticatedRequest,
    input: Fields,
    fieldNames: string[],
  ) => ({
    action: equalOf(id, input),
    caller,
    requestId: trace.id,
    fieldNames,
    signal: () => context.req.raw.signal,
    ip,
  })

  const readData = async (request: AuthenticatedRequest, input: Fields, pager?: Pager): Promise<unknown> => {
    const data = await runRead(service, { ...callDetails(request, input, []), pager }, handler, input)
    if (data instanceof Refusal) throw data
    return data
  }

  const textOf = (data: unknown): string => JSON.stringify(success(operation.message, withTextIds(data)))
  const bodyOf = createSharedBody(textOf)

  /** The caller of a request that takes long, as they are now: their key may have ended meanwhile. */
  const renewed = async (request: AuthenticatedRequest, input: Fields): Promise<Authenticated> => {
    const caller = await request.renew()
    if (!caller) throw unauthenticated()
    checkAccess(caller)
    refuseForeignTenant(caller, input)
    return caller
  }

  /** Reads the parts of a list. Each begins with the checks of the request, because a long list takes minutes. */
  const partsOf = (request: AuthenticatedRequest, input: Fields): Reading => {
    let isFirst = true
    const read = async (pager: Pager): Promise<unknown[]> => {
      const caller = isFirst ? request.caller : await renewed(request, input)
      isFirst = false
      return withTextIds(await readData({ ...request, caller }, input, pager)) as unknown[]
    }
    return (pager) => turns(request.caller.orgId, () => read(pager))
  }

  const answerRead = async (request: AuthenticatedRequest, input: Fields): Promise<Response> => {
    const since = storage.revision()
    const { context, origin, trace } = request
    const kept = (text: string, headers?: Record<string, string>): Response => {
      if (operation.cacheable) responses.keep(cacheKey(request), since, { text, headers })
      return answerText(200, text, trace, headers)
    }
    if (!isList) {
      const data = await readData(request, input)
      // The screens of a person look at their sessions themselves.
      if (input['wait_s'] !== undefined && !operation.session) await renewed(request, input)
      return canWait ? answerText(200, bodyOf(data as object), trace) : kept(textOf(data))
    }
    const ended = openLists(request.caller.keyId)
    const list = await readList(partsOf(request, input), {
      start: readCursor(input.cursor as string | undefined, byTime),
      limit: (input.limit as number | undefined) ?? preferredRows(context.req.header('prefer')),
      message: operation.message,
      ended,
      broken: request.broken,
    }).catch((error: unknown) => {
      ended()
      throw error
    })
    const { body, next } = list
    const headers = linkHeader(next, { url: context.req.url, origin })
    if (typeof body === 'string') ended()
    // Nobody reads the body.
    else if (context.req.method === 'HEAD') await body.cancel()
    if (list.isWhole) return kept(list.body, headers)
    return answerText(200, context.req.method === 'HEAD' ? '' : body, trace, headers)
  }

  const write = async (
    request: AuthenticatedRequest,
    { input, fieldNames, returned }: ReadInput,
  ): Promise<Response> => {
    const repeatable = toRepeatable(operation, { ...request, id, input })
    // A repeat must not run again what the handler does before its transaction.
    const before =
      repeatable && typeof handler !== 'function'
        ? await storage.read((db) => findResponse({ db, keyring }, repeatable, oldestStored(storage.now())))
        : undefined
    if (before) return replayed(request, before)
    const { caller, trace, ip } = request
    service.rate.add(caller, Math.max(0, objectsIn(input) - 1))
    const approval = request.context.req.header(approvalHeader)
    // Outside of the transaction, because it verifies signatures.
    const { request_id, row } = readReference(approval ?? '')
    const proven =
      approval === undefined
        ? undefined
        : ((caller.person
            ? await proveRepeated(service, caller, request_id)
            : await (row === undefined ? proveApproval : proveForRow)(service, request_id, {
                orgId: caller.orgId,
              })) ?? null)
    const call = { ...callDetails(request, input, fieldNames), approval }
    const run = async (inside: Call, work: () => Promise<Worked<unknown>>) => {
      const { db, now } = inside
      const kept = repeatable && (await findResponse(inside, repeatable, oldestStored(now)))
      if (kept) return { kept }
      const { data: worked, headers } = await enforcement.pass(inside, { proven, row, input }, work)
      if (worked instanceof Refusal) return { refusal: worked }
      const data = withTextIds(worked)
      checkReturned(returned, data)
      if (repeatable) {
        const shown = withoutSecrets(data)
        // A new session is for whoever got the first answer.
        const opens = headers['set-cookie'] !== undefined && !operation.session
        const stored = opens ? { ...(shown as object), secret_already_shown: true } : shown
        const bytes = await storeResponse(
          inside,
          repeatable,
          { now, oldest: oldestStored(now) },
          success(operation.message, stored),
        )
        // A key that fills the quota must keep nobody from acting as a person, whose device limits that by its signatures, nor from
        // ending something, such as that key.
        if (repeatable.orgId !== null && !('challenge' in shape) && operation.effect !== 'delete')
          await service.claim({ db, now }, repeatable.orgId, 'idempotency_mib', bytes)
      }
      return { envelope: success(operation.message, data), headers }
    }
    const done = await runWrite(service, call, handler, input, run).catch(async (error: unknown) => {
      if (!(error instanceof ApprovalRequired)) throw error
      const reason = request.context.req.header(reasonHeader)
      throw await enforcement.ask(
        service,
        { caller, requestId: trace.id, ip, input, reason },
        error.requirement,
      )
    })
    if (done.refusal) throw done.refusal
    return done.kept ? replayed(request, done.kept) : answer(200, done.envelope, request.trace, done.headers)
  }

  const respond = async (request: AuthenticatedRequest): Promise<Response> => {
    const read = await readInput(request.context)
    refuseForeignTenant(request.caller, read.input)
    return operation.effect === 'read' ? answerRead(request, read.input) : write(request, read)
  }

  return (request: AuthenticatedRequest): Response | Promise<Response> => {
    checkAccess(request.caller)
    // HEAD must not change anything.
    if (operation.effect !== 'read' && request.context.req.method === 'HEAD')
      throw new Refusal(
        405,
        'method_not_allowed',
        'HEAD is not allowed on this route, because it changes data',
        { hint: `Use ${operation.method}`, headers: { allow: `${operation.method}, OPTIONS` } },
      )
    const kept = operation.cacheable && responses.find(cacheKey(request))
    if (!kept) return respond(request)
    refuseBody(request.context)
    return answerText(200, kept.text, request.trace, kept.headers)
  }
}
