import { randomBytes } from 'node:crypto'
import { fieldsIn } from '../../client/answer-data.ts'
import { argsOf, fieldsOf } from '../../contract/describe.ts'
import { orgFields, type Operation } from '../../contract/operation.ts'
import { pathNames } from '../../contract/path.ts'
import { usageError } from '../../core/errors.ts'
import { subjectFor } from '../../asking/subject.ts'
import { keyedDigest, type Subject } from '../../receipt/subject.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { looksSecret } from '../../core/secret-name.ts'
import { withoutSecrets } from '../program/command-line.ts'
import type { Bound, Context } from '../context/context.ts'
import { isOrg, type Organization } from '../context/organization.ts'
import type { Gathered } from './flags.ts'
import type { Typed } from '../program/define-command.ts'
import { isRecord } from '../../core/is-record.ts'

const valueAt = (input: Record<string, unknown>, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], input)

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const secretsOf = (operation: Operation): Set<string> =>
  new Set(fieldsOf(operation).flatMap(({ name, meta }) => (meta.secret ? [name] : [])))

/** `svc geofence delete 1`: an operation with its whole input except the organization. Secrets are `***`. */
export const operationLine = (operation: Operation, { input, extra }: Gathered, typed: Typed): string => {
  const positional = argsOf(operation)
  const words = positional.map((name, i) => shellQuote(typed.args[i] ?? asText(input[name])))
  const flags = fieldsOf(operation).flatMap((field) => {
    const value = valueAt(input, field.path)
    if (positional.includes(field.name) || isOrg(field) || value === undefined) return []
    return [`--${field.flag}`, field.meta.secret ? '***' : shellQuote(asText(value))]
  })
  const secret = secretsOf(operation)
  const more = Object.entries(withoutSecrets(extra) as Record<string, unknown>).flatMap(([name, value]) => [
    '-F',
    shellQuote(`${name}=${secret.has(name) ? '***' : asText(value)}`),
  ])
  return ['svc', operation.cli, ...words, ...flags, ...more].join(' ')
}

type Fields = Record<string, unknown>

/** Random for each run, so that no one can guess a secret by its digest. The run itself compares what it sends with what was approved. */
const digestKey = randomBytes(32)

/** A copy of the body with a keyed digest instead of each secret, at any depth. */
const withDigests = (body: Fields, secret: ReadonlySet<string>): Fields =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      name !== '' && value !== undefined && (secret.has(name) || looksSecret(name))
        ? keyedDigest(asText(value), digestKey)
        : value,
    ),
  ) as Fields

/** The record before an update; undefined if there is no matching `get`, or the key cannot read it. */
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
  const known = pathNames(get.path).map((name) =>
    name === 'orgIdOrSlug' ? [name, String(input['org_id'])] : [name, input[name]],
  )
  try {
    const client = await context.client()
    return fieldsIn(await client.call(get, Object.fromEntries(known), { signal: context.io.signal }))
  } catch {
    // A key that can write may be unable to read. The approver then sees only the new values.
    return undefined
  }
}

/** A call of an operation with its whole body and, for an update, the values that it replaces. */
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
    body: withDigests(body, secrets),
    ...(before && Object.keys(before).length > 0 && { before }),
    ...(operation.effect === 'delete' && {
      deletions: [Object.values(input).map(asText).join(' ') || operation.cli],
    }),
  }
}

/** A raw request: only the names of its fields tell which values are secret. */
export const boundBody = (operation: string, body: unknown): Bound => ({
  operation,
  body: withDigests(isRecord(body) ? body : { body }, new Set()),
})

/** Throws a usage error if the change does not fit into one approval request. */
export const requestSubject = (bound: Bound, organization: Organization | undefined): Subject => {
  const { operation, body = {}, before, counts, deletions, file } = bound
  const named = organization && {
    id: String(organization.id),
    slug: organization.slug ?? String(organization.id),
  }
  const data = { organization: named ?? null, operation, body, before, counts, deletions, file }
  // The round trip drops the fields that are undefined.
  return subjectFor({ type: 'request', data: JSON.parse(JSON.stringify(data)) as object }, (problem) =>
    usageError(
      `This change cannot be approved as one request: ${problem}`,
      'Split it into several files, or make fewer changes at a time',
    ),
  )
}
