import { rowsIn } from '../../client/answer-data.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { scopes as every } from '../../contract/scopes.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { withAskKey } from '../context/open-client.ts'
import { readOwnKey } from '../context/own-key.ts'
import { fail, failed, note, ok, tryCheck, warn, type Finding } from './finding.ts'

const day = 24 * 60 * 60_000
const soonDays = 14
const unusedDays = 30
const mostShown = 5

type Key = Data<typeof key.listKeys>[number]

/** `2 first key (organization 1), 5 ci`. */
const list = (keys: Key[]): string => {
  const shown = keys
    .slice(0, mostShown)
    .map(({ id, name, org_id }) => `${id} ${name}${org_id === null ? '' : ` (organization ${org_id})`}`)
  return [...shown, ...(keys.length > mostShown ? [`${keys.length - mostShown} more`] : [])].join(', ')
}

/** Keys that have more rights than they need, expire soon, or are not used. */
export const reviewKeys = (keys: readonly Key[], now: number): Finding[] => {
  const active = keys.filter(
    ({ revoked_at, expires_at }) =>
      revoked_at === null && (expires_at === null || Date.parse(expires_at) > now),
  )
  const withAllScopes = active.filter(({ scopes }) => scopes.length === every.length)
  const all = withAllScopes.filter(({ kind }) => kind === 'organization')
  const operators = withAllScopes.filter(({ kind }) => kind === 'operator')
  const soon = active.filter(
    ({ expires_at }) => expires_at !== null && Date.parse(expires_at) - now < soonDays * day,
  )
  const unused = active.filter(
    ({ last_used_at, created_at }) =>
      last_used_at === null && now - Date.parse(created_at) > unusedDays * day,
  )
  const found: Finding[] = []
  if (all.length > 0)
    found.push(
      warn(
        'keys',
        `every scope: ${list(all)}. Such a key can ask and change who approves`,
        'svc key create --can ask creates a key for each use; then svc key revoke <key-id>',
      ),
    )
  if (operators.length > 1)
    found.push(
      note('keys', `operator keys: ${list(operators)}. Each can do everything`, 'svc key revoke <key-id>'),
    )
  if (soon.length > 0)
    found.push(
      warn(
        'keys',
        `expire within ${soonDays} days: ${list(soon)}`,
        'svc key create creates the next one: a rotation keeps the expiry',
      ),
    )
  if (unused.length > 0)
    found.push(note('keys', `never used in ${unusedDays} days: ${list(unused)}`, 'svc key revoke <key-id>'))
  if (found.length > 0) return found
  return [ok('keys', `${active.length} in use; no key of an organization has every scope`)]
}

/** Reviews the keys, if the service lists them and this key can read them. */
export const checkKeys = async ({ io, client }: Context): Promise<Finding[]> =>
  tryCheck(
    'keys',
    { unsupported: [], scopeMissing: 'not listed: this key lacks the scope "keys"' },
    async () => {
      const answer = await (await client()).call(key.listKeys, {}, { signal: io.signal })
      return reviewKeys(rowsIn(key.listKeys, answer), io.now().getTime())
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
