import canonicalize from 'canonicalize'
import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { sha256 } from '../../core/ids.ts'
import type { Call } from '../call.ts'
import { createCall } from '../create-call.ts'
import type { Keyring } from '../keyring.ts'
import type { Authenticated } from '../keys.ts'
import { Refusal } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { answer, success } from './envelope.ts'
import { checkIdempotencyKey, keep, replay, type Repeatable } from './idempotency.ts'
import { createInputReader } from './input.ts'
import { createPager } from './paging.ts'
import { createSecretStripper } from './secrets.ts'
import { guardTenant } from './tenant.ts'

type Service = { storage: Storage; keyring: Keyring; publicUrl: string }

/** A request whose caller is known. `origin` is the address under which the caller reached the service. */
export type Asked = { context: Context; caller: Authenticated; requestId: string; origin: string }

type Fields = Record<string, unknown>
type Handler = (input: Fields, call: Call) => Promise<unknown>

/** Answers one operation of the table, from the caller on. Compiled once an operation. */
export const createOperationRoute = (
  id: string,
  operation: Operation,
  handler: Handler,
  { storage, keyring, publicUrl }: Service,
) => {
  const readInput = createInputReader(operation)
  const withoutSecrets = createSecretStripper(operation.data)

  const callOf = (db: Db, asked: Asked, given: string[], pager: Pick<Call, 'page' | 'paged'>) => {
    const { keyId, name, orgId } = asked.caller
    return createCall({
      db,
      caller: { keyId, name, orgId },
      now: storage.now(),
      requestId: asked.requestId,
      publicUrl,
      keyring,
      page: pager.page,
      paged: pager.paged,
      action: id,
      given,
    })
  }

  const read = async (asked: Asked, input: Fields): Promise<Response> => {
    const pager = createPager(input, asked.context.req.url, asked.origin)
    const data = await storage.read((db) => handler(input, callOf(db, asked, [], pager).call))
    return answer(200, success(operation.message, data), asked.requestId, pager.headers())
  }

  const repeatableOf = ({ context, caller }: Asked, input: Fields): Repeatable | undefined => {
    const idempotencyKey = checkIdempotencyKey(context.req.header('idempotency-key'))
    if (idempotencyKey === undefined) return undefined
    return { keyId: caller.keyId, idempotencyKey, fingerprint: sha256(`${id} ${canonicalize(input)}`) }
  }

  const write = async (asked: Asked, input: Fields, given: string[]): Promise<Response> => {
    const repeatable = repeatableOf(asked, input)
    const { envelope, replayed } = await storage.write(async (db) => {
      const kept = repeatable && (await replay(db, repeatable, storage.now()))
      if (kept) return { envelope: kept, replayed: true }
      const { call, audited } = callOf(db, asked, given, { page: { after: 0 }, paged: (rows) => rows })
      const data = await handler(input, call)
      // The transaction goes back: nothing is changed without a trace.
      if (!audited()) throw new Error(`${id} left no audit row`)
      if (repeatable) await keep(db, repeatable, call.now, success(operation.message, withoutSecrets(data)))
      return { envelope: success(operation.message, data), replayed: false }
    })
    return answer(200, envelope, asked.requestId, replayed ? { 'idempotent-replayed': 'true' } : {})
  }

  return async (asked: Asked): Promise<Response> => {
    if (operation.operator && asked.caller.orgId !== null)
      throw new Refusal(403, 'operator_only', 'This needs an operator key', {
        hint: 'Use the key of the operator (SVC_API_KEY or its profile)',
      })
    const { input, given } = await readInput(asked.context)
    guardTenant(asked.caller, input)
    return operation.effect === 'read' ? read(asked, input) : write(asked, input, given)
  }
}
