import { rowsIn } from '../../client/answered.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { scopes as every } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { withAskKey } from '../context/open-client.ts'
import { isUnsaid, readOwnKey } from '../context/own-key.ts'
import { fail, failed, note, ok, warn, type Finding } from './finding.ts'

const day = 24 * 60 * 60_000
const soonDays = 14
/** A key that nobody has used for so long since it was made. */
const unusedDays = 30
const mostShown = 5

type Key = Data<typeof key.listKeys>[number]

const hasAll = ({ scopes }: Key): boolean => scopes.length === every.length

/** `2 first key (organization 1), 5 ci`. */
const named = (keys: Key[]): string => {
  const shown = keys
    .slice(0, mostShown)
    .map(({ id, name, org_id }) => `${id} ${name}${org_id === null ? '' : ` (organization ${org_id})`}`)
  return [...shown, ...(keys.length > mostShown ? [`${keys.length - mostShown} more`] : [])].join(', ')
}

/** What is worth a look in a list of keys. */
export const lookAtKeys = (keys: readonly Key[], now: number): Finding[] => {
  const alive = keys.filter(
    ({ revoked_at, expires_at }) =>
      revoked_at === null && (expires_at === null || Date.parse(expires_at) > now),
  )
  const all = alive.filter((one) => hasAll(one) && one.kind === 'organization')
  const operators = alive.filter((one) => hasAll(one) && one.kind === 'operator')
  const soon = alive.filter(
    ({ expires_at }) => expires_at !== null && Date.parse(expires_at) - now < soonDays * day,
  )
  const unused = alive.filter(
    ({ last_used_at, created_at }) =>
      last_used_at === null && now - Date.parse(created_at) > unusedDays * day,
  )
  const found = [
    ...(all.length > 0
      ? [
          warn(
            'keys',
            `every scope: ${named(all)}. Such a key can ask and change who approves`,
            'svc key create --can ask makes a key for each use; then svc key revoke KEY-ID',
          ),
        ]
      : []),
    ...(operators.length > 1
      ? [note('keys', `operator keys: ${named(operators)}. Each can do everything`, 'svc key revoke KEY-ID')]
      : []),
    ...(soon.length > 0
      ? [
          warn(
            'keys',
            `expire within ${soonDays} days: ${named(soon)}`,
            'svc key create makes the next one: a rotation keeps the expiry',
          ),
        ]
      : []),
    ...(unused.length > 0
      ? [note('keys', `never used in ${unusedDays} days: ${named(unused)}`, 'svc key revoke KEY-ID')]
      : []),
  ]
  return found.length > 0
    ? found
    : [ok('keys', `${alive.length} in use; none of an organization has every scope`)]
}

/** Keys that can do more than they should, end soon or are not used; only our own service tells, and only some keys. */
export const checkKeys = async (context: Context): Promise<Finding[]> => {
  const { signal, now } = context.io
  const client = await context.client()
  try {
    const rows = rowsIn(key.listKeys, await client.call(key.listKeys, {}, { signal }))
    return lookAtKeys(rows, now().getTime())
  } catch (error) {
    if (isUnsaid(error)) return []
    if (error instanceof SvcError && error.code === 'scope_missing')
      return [note('keys', 'not listed: this key lacks the scope "keys"')]
    return [failed('keys', error)]
  }
}

/** The key that asks, where the profile or the environment has one. */
export const checkAskKey = async (context: Context): Promise<Finding[]> => {
  const { profile } = await context.settings()
  const login = `svc profile login ${shellQuote(profile.value)} --ask`
  try {
    const own = await withAskKey(context, (client) => readOwnKey(client, context.io.signal))
    if (!own?.scopes) return []
    const { name, scopes } = own
    if (!scopes.includes('ask')) return [fail('ask key', `"${name}" cannot ask`, login)]
    const more = scopes.filter((scope) => scope !== 'ask')
    if (more.length === 0) return [ok('ask key', `"${name}" can only ask`)]
    return [warn('ask key', `"${name}" can do more than ask: ${more.join(', ')}`, login)]
  } catch (error) {
    return [failed('ask key', error, login)]
  }
}
