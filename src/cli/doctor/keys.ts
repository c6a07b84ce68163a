import { recordIn, rowsIn } from '../../client/answer-data.ts'
import { key } from '../../contract/key.ts'
import { scopes as every } from '../../contract/scopes.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { withAskKey } from '../context/open-client.ts'
import { readOwnKey } from '../context/own-key.ts'
import { createBeside, isFollowed, revokeOne, type Key, type Own } from './key-advice.ts'
import { fail, failed, note, ok, tryCheck, warn, type Finding } from './finding.ts'

const day = 24 * 60 * 60_000
const soonDays = 14
const unusedDays = 30
const mostShown = 5
/** The lifetime of a key that follows one that expires. */
const nextDays = 90

/** `2 first key (organization 1), 5 ci`. */
const list = (keys: Key[]): string => {
  const shown = keys
    .slice(0, mostShown)
    .map(({ id, name, org_id }) => `${id} ${name}${org_id === null ? '' : ` (organization ${org_id})`}`)
  return [...shown, ...(keys.length > mostShown ? [`${keys.length - mostShown} more`] : [])].join(', ')
}

const byOperator = 'Use an operator key: this key can neither replace nor end it'

/** Keys that have more rights than they need, expire soon, were replaced, or are not used. `own` is the key in use. */
export const reviewKeys = (keys: readonly Key[], own: Own, now: number): Finding[] => {
  const active = keys.filter(
    ({ revoked_at, expires_at }) =>
      revoked_at === null && (expires_at === null || Date.parse(expires_at) > now),
  )
  const replaced = active.filter((one) => one.replaced && one.id !== own.id)
  const newest = active.filter((one) => !one.replaced)
  const withAllScopes = newest.filter(({ scopes }) => scopes.length === every.length)
  const all = withAllScopes.filter(({ kind }) => kind === 'organization')
  const operators = withAllScopes.filter(({ kind }) => kind === 'operator')
  const soon = newest.filter(
    (one) =>
      one.expires_at !== null &&
      Date.parse(one.expires_at) - now < soonDays * day &&
      !isFollowed(one, newest),
  )
  const unused = newest.filter(
    ({ last_used_at, created_at }) =>
      last_used_at === null && now - Date.parse(created_at) > unusedDays * day,
  )
  const found: Finding[] = []
  if (own.replaced)
    found.push(
      warn(
        'keys',
        `a rotation replaced the key in use; it works until ${own.expires_at?.replace(/\.\d+Z$/, 'Z')}`,
        'svc profile login saves the new secret',
      ),
    )
  if (all.length > 0)
    found.push(
      warn(
        'keys',
        `every scope: ${list(all)}. Such a key can ask and change who approves: create one for each use, then revoke it`,
        isFollowed(all[0]!, newest)
          ? (revokeOne([all[0]!], keys, own) ?? byOperator)
          : (createBeside(all[0]!, keys, own, { scopes: ['ask'] }) ?? byOperator),
      ),
    )
  if (operators.length > 1)
    found.push(
      note(
        'keys',
        `operator keys: ${list(operators)}. Each can do everything`,
        revokeOne(operators, keys, own),
      ),
    )
  if (replaced.length > 0)
    found.push(
      note(
        'keys',
        `a rotation replaced these secrets, and they still work: ${list(replaced)}`,
        `svc key revoke ${shellQuote(replaced[0]!.id)}`,
      ),
    )
  if (soon.length > 0)
    found.push(
      warn(
        'keys',
        `expire within ${soonDays} days, also if they are rotated: ${list(soon)}`,
        createBeside(soon[0]!, keys, own, { scopes: soon[0]!.scopes, days: nextDays }) ?? byOperator,
      ),
    )
  if (unused.length > 0)
    found.push(
      note('keys', `never used in ${unusedDays} days: ${list(unused)}`, revokeOne(unused, keys, own)),
    )
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
      const { org } = await context.settings()
      return reviewKeys(rowsIn(key.listKeys, answer), { ...own, org: org !== undefined }, io.now().getTime())
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
