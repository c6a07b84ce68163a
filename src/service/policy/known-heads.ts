import type { Selectable } from 'kysely'
import type { Rule } from '../../contract/rule-shape.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Tables } from '../storage/schema.ts'

type Head = Selectable<Tables['rule_heads']>

export type StoredRule = { rule: Rule; created_at: string }

/** A grant that a person gave with `request_id`, for the same key alone. It is here until it ends or is used up. */
export type StoredGrant = {
  request_id: string
  key_id: number
  /** The first secret of that key. */
  asked_by: number
  user_id: number
  device_id: number
  ends_at: string
  uses: number
  used: number
}

/** A head whose MAC was proven, with its rules as data. */
type KnownHead = Head & { parsed: StoredRule[] }

// A hundred rules take longer to read, prove and parse than to match. A head that has the MAC of one that was proven says the
// same, so its rules need not be read again. In the order of their use, the longest unused first.

/** Characters of rules that are kept. */
const most = 4_000_000

type Known = { heads: Map<number, KnownHead>; size: number }

const known = new WeakMap<object, Known>()

const of = (keyring: Pick<Keyring, 'holds'>): Known => {
  const found = known.get(keyring) ?? { heads: new Map(), size: 0 }
  known.set(keyring, found)
  return found
}

const forget = (from: Known, orgId: number): void => {
  from.size -= from.heads.get(orgId)?.rules.length ?? 0
  from.heads.delete(orgId)
}

/** The head of an organization that was last proven. */
export const knownHead = (keyring: Pick<Keyring, 'holds'>, orgId: number): KnownHead | undefined =>
  of(keyring).heads.get(orgId)

/** Parses the rules of a head that was proven, and keeps them. */
export const knowHead = (keyring: Pick<Keyring, 'holds'>, head: Head): KnownHead => {
  const all = of(keyring)
  const found = all.heads.get(head.org_id)
  const next =
    found?.row_mac === head.row_mac ? found : { ...head, parsed: JSON.parse(head.rules) as StoredRule[] }
  forget(all, head.org_id)
  all.heads.set(head.org_id, next)
  all.size += next.rules.length
  for (const orgId of all.heads.keys()) {
    if (all.size <= most) break
    forget(all, orgId)
  }
  return next
}
