import canonicalize from 'canonicalize'
import type { Context } from 'hono'
import type { Selectable } from 'kysely'
import { metaOf } from '../../contract/field.ts'
import type { Operation } from '../../contract/operation.ts'
import { coreOf, type Schema } from '../../contract/schema.ts'
import type { OperationId } from '../../contract/table.ts'
import { sha256 } from '../../core/ids.ts'
import { conflict, forbidden, Refusal } from '../../core/refusal.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import type { RowMacs } from '../call/keyring.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { named, statement } from '../storage/statement.ts'
import { RunAgain } from '../storage/transaction.ts'
import type { Envelope } from './envelope.ts'

/** A request of an API key (of any of its secrets) that can be repeated; `fingerprint` identifies its content. */
export type Repeatable = { keyId: number; orgId: number | null; idempotencyKey: string; fingerprint: string }

/** The value of the header, if there is one. Throws a Refusal 400. */
const checkIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined || /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(header)) return header
  throw new Refusal(
    400,
    'bad_idempotency_key',
    'Idempotency-Key must be 1 to 255 printable ASCII characters',
    { hint: 'Use a fresh random value for each write, for example a UUID' },
  )
}

type Sent = { id: OperationId; context: Context; caller: Caller; input: object }

/** Undefined without the header. Throws a Refusal 400 for one that is not valid. */
export const toRepeatable = (
  { open }: Pick<Operation, 'open'>,
  { id, context, caller, input }: Sent,
): Repeatable | undefined => {
  const idempotencyKey = checkIdempotencyKey(context.req.header('idempotency-key'))
  if (idempotencyKey === undefined) return undefined
  const fingerprint = sha256(`${id} ${canonicalize(input)}`)
  // Callers without a key share nothing: the Idempotency-Key of one must not affect the request of another.
  const own = open ? sha256(`${fingerprint} ${idempotencyKey}`) : idempotencyKey
  return { keyId: namedKeyOf(caller), orgId: open ? null : caller.orgId, idempotencyKey: own, fingerprint }
}

/** The size of a row in addition to its text: keys, time and index entries. */
const rowBytes = 300

const readRow = statement(
  (db, { keyId, idempotencyKey, oldest }: { keyId: number; idempotencyKey: string; oldest: string }) =>
    db
      .selectFrom('idempotency')
      .where('key_id', '=', keyId)
      .where('idempotency_key', '=', idempotencyKey)
      .where('created_at', '>=', oldest)
      .selectAll(),
)

const writeRow = statement((db, row: Selectable<Tables['idempotency']> & { oldest: string }) => {
  const kept = named(row, ['org_id', 'bytes', 'fingerprint', 'answer', 'created_at', 'row_mac'])
  return (
    db
      .insertInto('idempotency')
      .values({ ...named(row, ['key_id', 'idempotency_key']), ...kept })
      // An existing row is too old to be found and was not swept yet.
      .onConflict((on) =>
        on
          .columns(['key_id', 'idempotency_key'])
          .doUpdateSet(kept)
          .where('idempotency.created_at', '<', row.oldest),
      )
      .returning('bytes')
  )
})

type Deps = { db: Db; keyring: RowMacs }

/**
 * The stored response since `oldest`, if any. Throws a Refusal 409 if it belongs to a different request, and 403 if another
 * program wrote it: nobody knows then whether the request took effect.
 */
export const findResponse = async (
  { db, keyring }: Deps,
  request: Repeatable,
  oldest: string,
): Promise<Envelope | undefined> => {
  const { keyId, idempotencyKey } = request
  const [kept] = (await readRow(db, { keyId, idempotencyKey, oldest })).rows
  if (!kept) return undefined
  if (!keyring.holds('idempotency', kept))
    throw forbidden(
      'response_not_authentic',
      'Another program has changed the stored response for this Idempotency-Key',
      'Check whether the request took effect. To make it again, use a fresh key',
    )
  if (kept.fingerprint !== request.fingerprint)
    throw conflict(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request',
      'Use a fresh key for each request; repeat a request exactly or not at all',
    )
  return JSON.parse(kept.answer) as Envelope
}

/** Stores the response in the transaction of the write itself; returns its size in bytes. */
export const storeResponse = async (
  { db, keyring }: Deps,
  request: Repeatable,
  { now, oldest }: { now: string; oldest: string },
  answer: Envelope,
): Promise<number> => {
  const text = JSON.stringify(answer)
  const bytes = Buffer.byteLength(text) + rowBytes
  const row = {
    key_id: request.keyId,
    org_id: request.orgId,
    bytes,
    idempotency_key: request.idempotencyKey,
    fingerprint: request.fingerprint,
    answer: text,
    created_at: now,
  }
  const row_mac = keyring.macOf('idempotency', row)
  const { rows } = await writeRow(db, { ...row, row_mac, oldest })
  // A request with the same key has just written to another organization, on another node.
  if (rows.length === 0) throw new RunAgain()
  return bytes
}

/** Whether a schema has a secret field, at any depth. */
const hasSecret = (schema: Schema): boolean => {
  const { shape = {}, element } = coreOf(schema)
  const inner = [...Object.values(shape), ...(element ? [element] : [])]
  return metaOf(schema)?.secret === true || inner.some(hasSecret)
}

const strip = (schema: Schema | undefined, value: unknown): unknown => {
  if (!schema || typeof value !== 'object' || value === null) return value
  const { shape, element } = coreOf(schema)
  if (Array.isArray(value)) return value.map((one) => strip(element, one))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !shape?.[name] || !metaOf(shape[name])?.secret)
      .map(([name, inner]) => [name, strip(shape?.[name], inner)]),
  )
}

/** Compiled once for each operation: removes secrets from data that is stored for repeats, and marks that. */
export const createSecretStripper = (schema: Schema | undefined) => {
  if (!schema || !hasSecret(schema)) return (data: unknown) => data
  return (data: unknown): unknown => ({ ...(strip(schema, data) as object), secret_already_shown: true })
}
