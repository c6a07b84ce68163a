import { recordIn, rowsIn } from '../../client/answer-data.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { scopes as every } from '../../contract/scopes.ts'
import { dayMs, inWholeSeconds } from '../../core/iso-time.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { withAskKey } from '../context/open-client.ts'
import { readOwnKey } from '../context/own-key.ts'
import { fail, failed, note, ok, tryCheck, warn, type Finding } from './finding.ts'

type Key = Data<typeof key.listKeys>[number]

const soonDays = 14
const unusedDays = 30
const mostShown = 5

/** `2 first key (organization 1), 5 ci`. */
const list = (keys: readonly Key[]): string => {
  const shown = keys
    .slice(0, mostShown)
    .map(({ id, name, org_id }) => `${id} ${name}${org_id === null ? '' : ` (organization ${org_id})`}`)
  return [...shown, ...(keys.length > mostShown ? [`${keys.length - mostShown} more`] : [])].join(', ')
}

/**
 * Keys that have more rights than they need, belong to nobody, expire soon, were replaced, or are not used. `own` is the key
 * in use.
 */
export const reviewKeys = (
  keys: readonly Key[],
  own: Pick<Key, 'id' | 'replaced' | 'expires_at'>,
  now: number,
): Finding[] => {
  const active = keys.filter(
    ({ revoked_at, expires_at, ended }) =>
      revoked_at === null && !ended && (expires_at === null || Date.parse(expires_at) > now),
  )
  const newest = active.filter((one) => !one.replaced)
  const replaced = active.filter((one) => one.replaced && one.id !== own.id)
  const withAllScopes = newest.filter(({ scopes }) => scopes.length === every.length)
  const operators = withAllScopes.filter(({ kind }) => kind === 'operator')
  const about = (
    found: readonly Key[],
    state: (check: string, message: string, next: string) => Finding,
    message: string,
    next = 'svc key list',
  ): Finding[] => (found.length > 0 ? [state('keys', `${message}: ${list(found)}`, next)] : [])
  const found = [
    ...(own.replaced
      ? [
          warn(
            'keys',
            `a rotation replaced the key in use; it works until ${inWholeSeconds(String(own.expires_at))}`,
            'svc profile login --with-key saves the new secret',
          ),
        ]
      : []),
    ...about(
      withAllScopes.filter(({ kind }) => kind === 'organization'),
      warn,
      'every scope, so they can ask and change who approves',
      'svc key create --name ci --can ask',
    ),
    ...about(
      newest.filter(({ org_id, owner_confirmed_at }) => org_id !== null && owner_confirmed_at === null),
      note,
      'no person confirmed that these are theirs',
      'svc profile login, then svc key create, replaces one',
    ),
    ...about(
      newest.filter(({ owner_left_at }) => owner_left_at),
      warn,
      'their owner left, so they stop working within 30 days',
      'replace one: svc profile login; svc key create under another name; deploy that key; svc key revoke ID',
    ),
    ...about(operators.length > 1 ? operators : [], note, 'operator keys, each of which can do everything'),
    ...about(
      replaced,
      note,
      'a rotation replaced these secrets, and they still work',
      `svc key revoke ${shellQuote(replaced[0]?.id ?? '')}`,
    ),
    ...about(
      // A sign-in is renewed by signing in again.
      newest.filter(
        ({ expires_at, client_name }) =>
          client_name === null && expires_at !== null && Date.parse(expires_at) - now < soonDays * dayMs,
      ),
      warn,
      `expire within ${soonDays} days, also if they are rotated`,
    ),
    ...about(
      newest.filter(
        ({ last_used_at, created_at }) =>
          last_used_at === null && now - Date.parse(created_at) > unusedDays * dayMs,
      ),
      note,
      `never used in ${unusedDays} days`,
    ),
  ]
  if (found.length > 0) return found
  return [ok('keys', `${active.length} in use; no key of an organization has every scope`)]
}

/** Reviews the keys, if the service lists them and this key can read them. */
export const checkKeys = async (context: Context): Promise<Finding[]> =>
  tryCheck(
    'keys',
    { unsupported: [], scopeMissing: 'not listed: this key lacks the scope "keys"' },
    async () => {
      const { io } = context
      const client = await context.client()
      const answer = await client.call(key.listKeys, {}, { signal: io.signal })
      const own = recordIn(key.whoAmI, await client.call(key.whoAmI, {}, { signal: io.signal }), ['root_id'])
      return reviewKeys(rowsIn(key.listKeys, answer), own, io.now().getTime())
    },
  )

/** The ask key, if the profile or the environment has one. */
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
