import { randomBytes } from 'node:crypto'
import { fieldsIn } from '../../client/answered.ts'
import { argsOf, fieldsOf } from '../../contract/describe.ts'
import { orgFields, type Operation } from '../../contract/operation.ts'
import { pathNames } from '../../contract/path.ts'
import { usageError } from '../../core/errors.ts'
import { keyedDigest, readSubject, type Subject, SubjectError } from '../../receipt/subject.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { looksSecret, withoutSecrets } from '../program/command-line.ts'
import type { Bound, Context } from '../context/context.ts'
import { isOrg, type Organization } from '../context/organization.ts'
import type { Gathered, Typed } from './flags.ts'
import { isRecord } from '../../core/is-record.ts'

const valueAt = (input: Record<string, unknown>, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], input)

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `svc geofence delete 1`: an operation with all that it was given, but for the organization. */
export const operationLine = (operation: Operation, { input, extra }: Gathered, typed: Typed): string => {
  const places = argsOf(operation)
  const words = places.map((name, i) => shellQuote(typed.args[i] ?? asText(input[name])))
  const flags = fieldsOf(operation).flatMap((field) => {
    const value = valueAt(input, field.path)
    if (places.includes(field.name) || isOrg(field) || value === undefined) return []
    return [`--${field.flag}`, field.meta.secret ? '***' : shellQuote(asText(value))]
  })
  const secret = new Set(fieldsOf(operation).flatMap(({ name, meta }) => (meta.secret ? [name] : [])))
  const more = Object.entries(withoutSecrets(extra) as Record<string, unknown>).flatMap(([name, value]) => [
    '-F',
    shellQuote(`${name}=${secret.has(name) ? '***' : asText(value)}`),
  ])
  return ['svc', operation.cli, ...words, ...flags, ...more].join(' ')
}

// What a write does, as data for the person who approves it: the same that is sent a moment later.

type Fields = Record<string, unknown>

/** Good for this run, which compares what it sends with what was approved; nobody else can try secrets against a digest. */
const digestKey = randomBytes(32)

const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The same as JSON, with a keyed digest in the place of each secret, at any depth. */
const concealed = (body: Fields, secret: ReadonlySet<string>): Fields =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      name !== '' && value !== undefined && (secret.has(name) || looksSecret(name))
        ? keyedDigest(text(value), digestKey)
        : value,
    ),
  ) as Fields

const secretsOf = (operation: Operation | undefined): Set<string> =>
  new Set(operation ? fieldsOf(operation).flatMap(({ name, meta }) => (meta.secret ? [name] : [])) : [])

/** The record as it is before an update, as far as it can be read one by one. */
const readBefore = async (
  operation: Operation,
  input: Fields,
  context: Context,
): Promise<Fields | undefined> => {
  if (!operation.cli.endsWith(' update')) return undefined
  const { table } = await import('../../contract/table.ts')
  const cli = operation.cli.replace(/update$/, 'get')
  const get = Object.values<Operation>(table).find((one) => one.cli === cli)
  if (!get) return undefined
  const known = pathNames(get.path).map((name) => [name, input[name === 'orgIdOrSlug' ? 'org_id' : name]])
  try {
    const client = await context.client()
    const answer = await client.call(
      get,
      Object.fromEntries(
        known.map(([name, value]) => [name, get.path.includes('orgIdOrSlug') ? String(value) : value]),
      ),
      { signal: context.io.signal },
    )
    return fieldsIn(answer)
  } catch {
    // A key that writes need not read. The approver then sees the new values alone.
    return undefined
  }
}

/** One call of an operation, with all that it is given; for an update with the values that it replaces. */
export const boundCall = async (operation: Operation, input: Fields, context: Context): Promise<Bound> => {
  const body = Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !orgFields.includes(name) && value !== undefined),
  )
  const present = await readBefore(operation, input, context)
  const secrets = secretsOf(operation)
  const replaced = Object.keys(body).filter(
    (name) => !pathNames(operation.path).includes(name) && !secrets.has(name) && !looksSecret(name),
  )
  const before =
    present &&
    Object.fromEntries(replaced.flatMap((name) => (name in present ? [[name, present[name]]] : [])))
  return {
    operation: operation.cli,
    body: concealed(body, secrets),
    ...(before && Object.keys(before).length > 0 && { before }),
    ...(operation.effect === 'delete' && {
      deletions: [Object.values(input).map(text).join(' ') || operation.cli],
    }),
  }
}

/** A request whose body is told by nothing but its names. */
export const boundBody = (operation: string, body: unknown): Bound => ({
  operation,
  body: concealed(isRecord(body) ? body : { body }, new Set()),
})

/** Fails with a usage error where it is more than a person can approve at once. */
export const requestSubject = (bound: Bound, organization: Organization | undefined): Subject => {
  const { operation, body = {}, before, counts, deletions, file } = bound
  const named = organization && {
    id: String(organization.id),
    slug: organization.slug ?? String(organization.id),
  }
  const data = {
    organization: named ?? null,
    operation,
    body,
    ...(before && { before }),
    ...(counts && { counts }),
    ...(deletions && { deletions }),
    ...(file && { file }),
  }
  try {
    return readSubject({ type: 'request', data: JSON.parse(JSON.stringify(data)) as object })
  } catch (error) {
    if (!(error instanceof SubjectError)) throw error
    throw usageError(
      `This change is too large for one approval: ${error.path} ${error.message}`,
      'Split it into several files, or make fewer changes at a time',
    )
  }
}
