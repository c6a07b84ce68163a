import type { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { scopes as every } from '../../contract/scopes.ts'
import { shellQuote } from '../../core/shell-quote.ts'

// Commands that work as they are printed, with the key in use.

export type Key = Data<typeof key.listKeys>[number]

/** The key in use; `org`: whether an organization is set, which a key of the whole service must not get. */
export type Own = Pick<
  Key,
  'id' | 'root_id' | 'created_by' | 'scopes' | 'kind' | 'expires_at' | 'replaced'
> & {
  org: boolean
}

/** The keys that created the key in use, directly or not, and the key itself. */
const lineOf = (own: Own, keys: readonly Key[]): Set<string> => {
  const roots = new Set([own.root_id])
  for (let above = own.created_by; above !== null && !roots.has(above);) {
    roots.add(above)
    above = keys.find(({ id }) => id === above)?.created_by ?? null
  }
  return roots
}

/** The command that revokes the first of these keys that can be revoked without the key in use. */
export const revokeOne = (some: readonly Key[], keys: readonly Key[], own: Own): string | undefined => {
  const kept = lineOf(own, keys)
  const stays = own.kind === 'operator' && own.expires_at === null
  const found = some.find(({ root_id, kind }) => !kept.has(root_id) && (kind !== 'operator' || stays))
  return found && `svc key revoke ${shellQuote(found.id)}`
}

/** The start of the names of the keys that follow one: `ci-` of `ci-2`. */
const nextNames = ({ name }: Key): string => `${name.slice(0, 50).trim()}-`

/** Whether the key that was advised beside this one exists. */
export const isFollowed = (old: Key, active: readonly Key[]): boolean =>
  active.some(
    ({ id, name, org_id, created_at }) =>
      id !== old.id &&
      org_id === old.org_id &&
      created_at >= old.created_at &&
      name.startsWith(nextNames(old)) &&
      /^\d{1,4}$/.test(name.slice(nextNames(old).length)),
  )

const freeName = (old: Key, keys: readonly Key[]): string => {
  const taken = new Set(keys.filter(({ org_id }) => org_id === old.org_id).map(({ name }) => name))
  for (let n = 2; ; n++) if (!taken.has(`${nextNames(old)}${n}`)) return `${nextNames(old)}${n}`
}

/** The command that creates a key beside another one; undefined if the key in use cannot. */
export const createBeside = (
  old: Key,
  keys: readonly Key[],
  own: Own,
  { scopes, days }: { scopes: readonly Key['scopes'][number][]; days?: number },
): string | undefined => {
  if (own.expires_at !== null || scopes.some((scope) => !own.scopes.includes(scope))) return undefined
  const org = old.org_id === null ? (own.org ? ["--org=''"] : []) : ['--org', String(old.org_id)]
  const can = scopes.length === every.length ? 'all' : scopes.join(',')
  return [
    'svc key create --name',
    shellQuote(freeName(old, keys)),
    ...org,
    '--can',
    can,
    ...(days === undefined ? [] : ['--expires', `${days}d`]),
    ...(old.owner_user_id === null ? [] : ['--owner', old.owner_user_id]),
  ].join(' ')
}
